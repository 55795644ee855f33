import type { Block } from '@millrace/core'
import { type ReactNode, useRef } from 'react'
import { agentColour, agentTint, initials } from '../ui/agent-colour.ts'
import { Button } from '../ui/controls.tsx'
import { EndOfList, FewRows, ManyRows } from './row-list.tsx'
import { useFollowing } from './use-following.ts'

interface BlockListProps {
  readonly blocks: readonly Block[]
  readonly at: number | undefined
  readonly running: boolean
  readonly agent: string
  readonly children?: ReactNode
}

/** Below this many rows all are in the page, so that the browser's own search finds every word of them. */
const few = 120

/** The rows, as many as can be seen. It stays at the newest unless the reader went up to read. */
export function BlockList({ blocks, at, running, agent, children }: BlockListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const { following, leave, jump } = useFollowing(scroller, at, blocks)
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
        onWheel={(event) => event.deltaY < 0 && leave()}
      >
        {children}
        <div className="blocks">
          {blocks.length <= few ? (
            <FewRows blocks={blocks} />
          ) : following ? (
            <EndOfList blocks={blocks} />
          ) : (
            <ManyRows blocks={blocks} scroller={scroller} />
          )}
          {running && <Working agent={agent} blocks={blocks} />}
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
