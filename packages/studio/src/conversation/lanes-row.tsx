import type { Block, BlockLane, Item } from '@millrace/core'
import { memo, useEffect, useLayoutEffect, useRef } from 'react'
import { agentColour } from '../ui/agent-colour.ts'
import { Avatar } from '../ui/avatar.tsx'
import { useActions } from './actions.ts'
import { ItemRow } from './item-row.tsx'
import { isVisible } from './visible-parts.ts'

/** Agents that worked at the same time, side by side. */
export function LanesRow({ block }: { readonly block: Extract<Block, { kind: 'lanes' }> }) {
  const { activeRun } = useActions()
  // While agents work, each lane shows the end of what it has; afterwards all of it, and only the page scrolls.
  const over = block.lanes[0]?.items[0]?.run !== activeRun
  return (
    // biome-ignore lint/a11y/useSemanticElements: no form; and a landmark for every group of agents would be too many
    <div
      className={over ? 'lanes over' : 'lanes'}
      role="group"
      aria-label="Parallel agents"
      data-testid="lanes"
      data-count={block.lanes.length}
    >
      {block.lanes.map((lane) => (
        <LaneColumn key={lane.key} lane={lane} over={over} />
      ))}
    </div>
  )
}

interface LaneProps {
  readonly lane: BlockLane
  readonly over: boolean
}

const LaneColumn = memo(function LaneColumn({ lane, over }: LaneProps) {
  const { agent, items } = lane
  const body = useRef<HTMLElement>(null)
  const streaming = items.some(isStreaming)
  useLayoutEffect(() => {
    // While a message streams in, its end is what the reader wants to see.
    if (streaming && body.current !== null) body.current.scrollTop = body.current.scrollHeight
  })
  // A completed message is read from the top.
  useEffect(() => {
    if (!streaming && body.current !== null) body.current.scrollTop = 0
  }, [streaming])
  useLayoutEffect(() => {
    if (body.current !== null) markEdges(body.current)
  })
  useEffect(() => {
    const { current } = body
    // A card that opens or closes changes the height; its event does not bubble.
    const toggled = (): void => void (current !== null && markEdges(current))
    current?.addEventListener('toggle', toggled, true)
    return () => current?.removeEventListener('toggle', toggled, true)
  }, [])
  return (
    <div className="lane" style={{ borderTopColor: agentColour(agent) }}>
      <header>
        <Avatar agent={agent} small />
        <h3 className="ellipsis" style={{ color: agentColour(agent) }}>
          {agent}
        </h3>
        {streaming && <span className="live-dot moving" />}
      </header>
      <section
        className={over ? 'lane-body' : 'lane-body scroll'}
        ref={body}
        tabIndex={over ? undefined : 0}
        aria-label={over ? undefined : `Messages from ${agent}`}
        onScroll={(event) => markEdges(event.currentTarget)}
      >
        {items.filter(isVisible).map((item) => (
          <ItemRow key={item.key} item={item} />
        ))}
      </section>
    </div>
  )
}, sameLane)

/** Says to the style of the lane where its text goes on beyond an edge; a state of React would draw all of it again. */
function markEdges(body: HTMLElement): void {
  const { scrollTop, scrollHeight, clientHeight, parentElement: lane } = body
  lane?.toggleAttribute('data-above', scrollTop > 1)
  lane?.toggleAttribute('data-below', scrollHeight - clientHeight - scrollTop > 1)
}

/** Lanes are rebuilt on every read of the log, but their items stay the same objects. */
function sameLane({ lane: a, over }: LaneProps, { lane: b, over: after }: LaneProps): boolean {
  return (
    over === after &&
    a.key === b.key &&
    a.items.length === b.items.length &&
    a.items.every((item, i) => item === b.items[i])
  )
}

function isStreaming(item: Item): boolean {
  return item.kind === 'message' && item.status === 'streaming'
}
