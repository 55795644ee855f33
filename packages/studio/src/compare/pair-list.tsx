import type { Message } from '@millrace/core'
import { memo, useMemo, useState } from 'react'
import { type Actions, ActionsContext } from '../conversation/actions.ts'
import { ItemRow, OpenStep } from '../conversation/item-row.tsx'
import { ToolCardRow } from '../conversation/tool-card.tsx'
import { visibleParts } from '../conversation/visible-parts.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { Avatar } from '../ui/avatar.tsx'
import type { Pairing } from './align.ts'
import { foldPairs } from './folding.ts'
import { wordDifference } from './words.ts'

/** Pairs that are shown at first, and that one click adds: a long session has thousands. */
const most = 60
const more = 50

interface PairListProps {
  readonly pairs: readonly Pairing[]
  /** What the rows of each side can do. */
  readonly actions: readonly [Actions, Actions]
}

/** The messages of both sides. Long stretches of identical messages are folded, and open a part at a time. */
export function PairList({ pairs, actions }: PairListProps) {
  const stretches = useMemo(() => foldPairs(pairs), [pairs])
  const [limit, setLimit] = useState(most)
  let left = limit
  const hidden = stretches.reduce((sum, { pairs: own, folded }) => sum + (folded ? 0 : own.length), 0) - limit
  return (
    <section aria-label="Messages">
      <h2>Messages</h2>
      {stretches.map(({ key, pairs: own, folded }) => {
        if (left <= 0) return null
        if (folded) return <Folded key={key} pairs={own} actions={actions} />
        const shown = own.slice(0, left)
        left -= shown.length
        return shown.map((pair) => <Row key={pair.key} pair={pair} actions={actions} />)
      })}
      {hidden > 0 && (
        <button type="button" className="link pairs-folded" onClick={() => setLimit(limit + more)}>
          {hidden.toLocaleString('en')} more, show {Math.min(hidden, more)}
        </button>
      )}
    </section>
  )
}

interface PairProps {
  readonly pair: Pairing
  readonly actions: readonly [Actions, Actions]
}

function Row({ pair: { key, left, right, kind }, actions: [ofLeft, ofRight] }: PairProps) {
  return <PairRow id={key} left={left} right={right} kind={kind} ofLeft={ofLeft} ofRight={ofRight} />
}

/** Opens from its end, because that is what came before the difference below it. */
function Folded({ pairs, actions }: PairListProps) {
  const [open, setOpen] = useState(0)
  const hidden = pairs.length - open
  return (
    <>
      {hidden > 0 && (
        <button
          type="button"
          className="link pairs-folded"
          data-testid="pairs-folded"
          onClick={() => setOpen(Math.min(pairs.length, open + more))}
        >
          {hidden.toLocaleString('en')} identical messages
          {hidden > more ? `, show ${more}` : ', show them'}
        </button>
      )}
      {pairs.slice(hidden).map((pair) => (
        <Row key={pair.key} pair={pair} actions={actions} />
      ))}
    </>
  )
}

const labels = { same: undefined, changed: 'differs', left: 'left only', right: 'right only' } as const

interface RowProps {
  readonly id: string
  readonly left: Message | undefined
  readonly right: Message | undefined
  readonly kind: Pairing['kind']
  readonly ofLeft: Actions
  readonly ofRight: Actions
}

/** While one side runs, the pairs are made anew with each event; only a pair whose messages changed is rendered again. */
const PairRow = memo(function PairRow({ id, left, right, kind, ofLeft, ofRight }: RowProps) {
  return (
    <div className={`pair ${kind}`} data-testid={`pair-${kind}`} id={pairId(id)}>
      <ActionsContext value={ofLeft}>
        <div>{left !== undefined && <Side message={left} other={right} kind="del" />}</div>
      </ActionsContext>
      <ActionsContext value={ofRight}>
        <div>{right !== undefined && <Side message={right} other={left} kind="ins" />}</div>
      </ActionsContext>
      {labels[kind] !== undefined && <span className="visually-hidden">{labels[kind]}</span>}
    </div>
  )
})

interface SideProps {
  readonly message: Message
  readonly other: Message | undefined
  readonly kind: 'ins' | 'del'
}

/** A message of one side. Where its text differs from that of the other side, the words that differ are marked. */
function Side({ message, other, kind }: SideProps) {
  if (other === undefined || message.role === 'user' || message.text === other.text || message.text === '') {
    return <ItemRow item={message} />
  }
  const [own] = wordDifference(message.text, other.text)
  const Mark = kind
  return (
    <article className="message">
      <Avatar agent={message.author} />
      <div className="message-body">
        <header>
          <span className="author" style={{ color: agentColour(message.author) }}>
            {message.author}
          </span>
        </header>
        <p className="word-difference">
          {own.map((run, i) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
            run.own ? <Mark key={i}>{run.text}</Mark> : <span key={i}>{run.text}</span>,
          )}
        </p>
        {visibleParts(message).map((part) =>
          part.kind === 'tool' ? <ToolCardRow key={part.key} card={part} run={message.run} /> : null,
        )}
      </div>
      <OpenStep message={message} />
    </article>
  )
}

const pairId = (key: string): string => `pair ${key}`

export function showPair(key: string): void {
  document.getElementById(pairId(key))?.scrollIntoView({ block: 'center' })
}
