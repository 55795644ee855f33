import type { FlowNode } from '@millrace/core'
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { openStep } from '../step/open-step.ts'
import { agentColour, agentTint, initials } from '../ui/agent-colour.ts'
import { Icon } from '../ui/icon.tsx'
import type { StateWord } from '../ui/state-word.ts'
import type { DrawnNode } from './drawing.ts'

export type StepNode = Node<
  {
    readonly drawn: DrawnNode
    readonly node: FlowNode | undefined
    readonly active: boolean
    /** The last event before the cursor happened in this node. */
    readonly latest: boolean
    readonly word: StateWord
    /** Opens or closes a node that contains a graph. */
    readonly onToggle: (id: string) => void
  },
  'step'
>

/** One agent or graph step, with its status at the cursor. */
export function StepNodeView({ data }: NodeProps<StepNode>) {
  const { drawn, node, active, latest, word, onToggle } = data
  const ran = node !== undefined && (drawn.kind !== 'step' || node.executions > 0 || active)
  const ended = word === 'cut off' ? 'interrupted' : (node?.status ?? 'ok')
  const status = active ? 'running' : ran ? ended : 'idle'
  if (drawn.kind !== 'step') {
    return (
      <div
        className={`border-node ${drawn.kind} ${ran ? 'ran' : ''}`}
        title={drawn.kind === 'start' ? 'A run starts' : 'A run is done'}
      >
        <Ports />
        <Icon name={drawn.kind === 'start' ? 'play' : 'check'} size={14} />
      </div>
    )
  }
  const seq = node?.lastSeq ?? 0
  const { box } = drawn
  const times = node !== undefined && node.executions > 1 ? ` · ${node.executions}×` : ''
  const colours = { '--agent': agentColour(drawn.agent), '--tint': agentTint(drawn.agent) } as React.CSSProperties
  return (
    <div
      className={`step-place ${box === undefined ? '' : `box ${box}`} ${status} ${latest ? 'latest' : ''}`}
      style={colours}
    >
      <Ports />
      <button
        type="button"
        className={`step-node ${status} ${latest ? 'latest' : ''} nopan`}
        title={drawn.id}
        disabled={seq === 0}
        data-testid="flow-node"
        data-status={status}
        onClick={() => openStep(seq)}
      >
        <span className="avatar" aria-hidden="true">
          {initials(drawn.agent)}
        </span>
        <span className="step-text">
          <b className="ellipsis">{drawn.agent}</b>
          <span className="step-status">
            {word}
            {times}
          </span>
        </span>
      </button>
      {box !== undefined && (
        <button
          type="button"
          className="box-toggle nopan"
          aria-expanded={box === 'open'}
          aria-label={`${box === 'open' ? 'Close' : 'Open'} the graph inside ${drawn.agent}`}
          title={box === 'open' ? 'Hide the steps inside' : 'Show the steps inside'}
          data-testid="flow-box"
          onClick={() => onToggle(drawn.id)}
        >
          <Icon name={box === 'open' ? 'minus' : 'plus'} size={14} />
        </button>
      )}
    </div>
  )
}

function Ports() {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
}
