import type { Block } from '@millrace/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { agentColour, agentTint, initials } from '../ui/agent-colour.ts'
import { Button } from '../ui/controls.tsx'
import { ItemRow } from './item-row.tsx'
import { LanesRow } from './lanes-row.tsx'

interface BlockListProps {
  readonly blocks: readonly Block[]
  readonly at: number | undefined
  readonly running: boolean
  readonly agent: string
  readonly children?: ReactNode
}

/** Below this many rows all are in the page, so that the browser's own search finds every word of them. */
const all = 120
/** So near the end counts as at the end. */
const near = 60

/** The rows, as many as can be seen. It stays at the newest unless the reader went up to read. */
export function BlockList({ blocks: shown, at, running, agent, children }: BlockListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (index) => shown[index]?.key ?? index,
    overscan: shown.length <= all ? all : 6,
    useFlushSync: false,
  })
  const { following, jump } = useFollowing(scroller, at)
  return (
    <div className="block-list">
      <div
        className="block-scroller scroll"
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-live="off"
      >
        {children}
        <div className="blocks">
          <div className="blocks-inner" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, key, start }) => {
              const block = shown[index]
              if (block === undefined) return null
              return (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  className={`block ${block.kind} ${goesOn(shown[index - 1], block) ? 'continued' : ''}`}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  {block.kind === 'lanes' ? <LanesRow block={block} /> : <ItemRow item={block.item} />}
                </div>
              )
            })}
          </div>
          {running && <Working agent={agent} blocks={shown} />}
        </div>
      </div>
      {!following && at === undefined && (
        <div className="jump">
          <Button icon="down" onClick={jump} data-testid="jump-to-latest">
            Jump to latest
          </Button>
        </div>
      )}
    </div>
  )
}

/** The same agent speaks on: its name need not be said again. */
function goesOn(before: Block | undefined, { kind, ...block }: Block): boolean {
  if (kind !== 'item' || before?.kind !== 'item' || !('item' in block)) return false
  const [a, b] = [before.item, block.item]
  return a.kind === 'message' && b.kind === 'message' && a.role !== 'user' && a.author === b.author && a.run === b.run
}

/** Between two messages somebody is at work; the page says so instead of standing still. */
function Working({ agent, blocks }: { readonly agent: string; readonly blocks: readonly Block[] }) {
  const last = blocks.at(-1)
  if (last?.kind === 'item' && last.item.kind === 'message' && last.item.status === 'streaming') return null
  return (
    <div className="working" role="status">
      <span
        className="avatar small"
        style={{ color: agentColour(agent), background: agentTint(agent) }}
        aria-hidden="true"
      >
        {initials(agent)}
      </span>
      <span className="visually-hidden">{agent} is working</span>
      <i />
      <i />
      <i />
    </div>
  )
}

/** Holds on to the end while it moves, until the reader scrolls away from it; also when rows are measured anew. */
function useFollowing(scroller: { readonly current: HTMLDivElement | null }, at: number | undefined) {
  const [following, setFollowing] = useState(true)
  const held = useRef(true)
  const jump = useCallback(() => {
    held.current = true
    setFollowing(true)
    const element = scroller.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }, [scroller])
  useEffect(() => {
    const element = scroller.current
    const inner = element?.querySelector('.blocks')
    if (element === null || inner === null || inner === undefined) return
    let top = element.scrollTop
    const onScroll = (): void => {
      const atEnd = element.scrollHeight - element.clientHeight - element.scrollTop < near
      // Growth moves the end away without anybody scrolling: only going up lets go of it.
      if (atEnd || element.scrollTop < top) held.current = atEnd
      top = element.scrollTop
      setFollowing(held.current)
    }
    const grown = new ResizeObserver(() => {
      if (held.current) element.scrollTop = element.scrollHeight
    })
    grown.observe(inner)
    grown.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      grown.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [scroller])
  // The newest row of a past moment is what that moment is about.
  // biome-ignore lint/correctness/useExhaustiveDependencies: wherever the cursor goes
  useEffect(jump, [at, jump])
  return { following, jump }
}
