import type { FlowNode } from '@millrace/core'
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { openStep } from '../step/open-step.ts'
import { agentColour, agentTint, initials } from '../ui/agent-colour.ts'
import { Icon } from '../ui/icon.tsx'
import type { DrawnNode } from './drawing.ts'

export type StepNode = Node<
  {
    readonly drawn: DrawnNode
    readonly node: FlowNode | undefined
    readonly active: boolean
    /** The last event before the cursor happened in this node. */
    readonly latest: boolean
  },
  'step'
>

/** One agent or graph step, with its status at the cursor. */
export function StepNodeView({ data: { drawn, node, active, latest } }: NodeProps<StepNode>) {
  const ran = node !== undefined && (drawn.kind !== 'step' || node.executions > 0 || active)
  const status = active ? 'running' : ran ? (node?.status ?? 'ok') : 'idle'
  const ports = (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
  if (drawn.kind !== 'step') {
    return (
      <div
        className={`border-node ${drawn.kind} ${ran ? 'ran' : ''}`}
        title={drawn.kind === 'start' ? 'A run starts' : 'A run is done'}
      >
        {ports}
        <Icon name={drawn.kind === 'start' ? 'play' : 'check'} size={14} />
      </div>
    )
  }
  const seq = node?.lastSeq ?? 0
  return (
    <button
      type="button"
      className={`step-node ${status} ${latest ? 'latest' : ''} nopan`}
      style={{ '--agent': agentColour(drawn.agent), '--tint': agentTint(drawn.agent) } as React.CSSProperties}
      title={drawn.id}
      disabled={seq === 0}
      data-testid="flow-node"
      data-status={status}
      onClick={() => openStep(seq)}
    >
      {ports}
      <span className="avatar" aria-hidden="true">
        {initials(drawn.agent)}
      </span>
      <span className="step-text">
        <b className="ellipsis">{drawn.agent}</b>
        <span className="step-status">{words(status, node)}</span>
      </span>
    </button>
  )
}

function words(status: FlowNode['status'] | 'idle', node: FlowNode | undefined): string {
  const times = node !== undefined && node.executions > 1 ? ` · ${node.executions}×` : ''
  if (status === 'idle') return 'not run'
  return `${{ running: 'running', ok: 'done', error: 'failed', interrupted: 'interrupted' }[status]}${times}`
}
