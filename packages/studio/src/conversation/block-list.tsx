import type { Block } from '@millrace/core'
import { type ReactNode, useRef } from 'react'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/controls.tsx'
import { LitBar, LitMarks } from './lit-bar.tsx'
import { RowList } from './row-list.tsx'
import { useFindMarks } from './use-find-marks.ts'
import { useFollowing } from './use-following.ts'
import { useLitCards } from './use-lit-cards.ts'

interface BlockListProps {
  readonly blocks: readonly Block[]
  readonly at: number | undefined
  readonly running: boolean
  readonly agent: string
  readonly children?: ReactNode
}

/** The visible rows. The list stays at the newest row unless the reader has scrolled up. */
export function BlockList({ blocks, at, running, agent, children }: BlockListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const searching = useRef(false)
  const { following, leave, jump } = useFollowing(scroller, at, blocks, searching)
  const found = useFindMarks(scroller, blocks, leave)
  const lit = useLitCards(scroller, blocks, leave)
  const goal = found ?? lit.goal
  searching.current = goal !== undefined
  return (
    <>
      <LitBar cards={lit.cards} />
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
            <RowList blocks={blocks} following={following} scroller={scroller} goal={goal} />
            {running && <Working agent={agent} blocks={blocks} />}
          </div>
        </div>
        {!following && at === undefined && (
          <div className="jump">
            <Button icon="down" onClick={jump} data-testid="jump-to-latest">
              Latest
            </Button>
          </div>
        )}
        <LitMarks cards={lit.cards} blocks={blocks} />
      </div>
    </>
  )
}

/** Shows that an agent is working while no message is being streamed. */
function Working({ agent, blocks }: { readonly agent: string; readonly blocks: readonly Block[] }) {
  const last = blocks.at(-1)
  if (last?.kind === 'item' && last.item.kind === 'message' && last.item.status === 'streaming') return null
  return (
    <div className="working" role="status">
      <Avatar agent={agent} small />
      <span className="visually-hidden">{agent} is working</span>
      <i />
      <i />
      <i />
    </div>
  )
}
