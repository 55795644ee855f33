import { diffState, itemsOf, type Message, stateView, transcriptView, usageView } from '@millrace/core'
import { type SessionHandle, useSession, useView } from '@millrace/react'
import { useMemo } from 'react'
import { useKeyboard } from '../app/keyboard.ts'
import { navigate } from '../app/route.ts'
import { ItemRow } from '../conversation/item-row.tsx'
import { ToolCardRow } from '../conversation/tool-card.tsx'
import { titleOf, useSessionInfo } from '../session/sessions.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button, Pill } from '../ui/controls.tsx'
import { useDateText } from '../ui/time.tsx'
import { align, messagesOf, type Pairing } from './align.ts'
import { firstDivergence } from './divergence.ts'
import { type Figure, figuresOf } from './figures.ts'
import { wordDifference } from './words.ts'
import '../conversation/conversation.css'
import './compare.css'

/** Two sessions side by side: figures, final state and messages, with the differences marked. */
export function Compare({ left, right }: { readonly left: string; readonly right: string }) {
  const a = useSession(left)
  const b = useSession(right)
  useKeyboard(undefined)
  const pairs = usePairs(a, b)
  const divergence = useMemo(() => firstDivergence(pairs), [pairs])
  const different = pairs.filter(({ kind }) => kind !== 'same').length
  return (
    <main className="compare" data-testid="compare">
      <header className="conversation-head">
        <h1>Compare</h1>
        <span className="compare-count">
          {different === 0 ? 'Identical text' : `${different} of ${pairs.length} messages differ`}
        </span>
        <Button icon="close" onClick={() => navigate({ compare: undefined })}>
          Close
        </Button>
      </header>
      <div className="compare-body scroll">
        <div className="compare-names">
          <Name id={left} />
          <Name id={right} />
        </div>
        {divergence !== undefined && (
          <p className="divergence" data-testid="divergence">
            First difference: <b>{divergence.name}</b>{' '}
            <button type="button" className="link" onClick={() => showPair(divergence.key)}>
              Show it
            </button>
          </p>
        )}
        <Figures a={a} b={b} />
        <StateDifferences a={a} b={b} />
        <section aria-label="Messages">
          <h2>Messages</h2>
          {pairs.map((pair) => (
            <PairRow key={pair.key} pair={pair} />
          ))}
        </section>
      </div>
    </main>
  )
}

function usePairs(a: SessionHandle, b: SessionHandle): readonly Pairing[] {
  const left = useView(a.log, transcriptView)
  const right = useView(b.log, transcriptView)
  return useMemo(() => align(messagesOf(itemsOf(left)), messagesOf(itemsOf(right))), [left, right])
}

function Name({ id }: { readonly id: string }) {
  const info = useSessionInfo(id)
  return (
    <h2 className="ellipsis">
      <button type="button" className="link" onClick={() => navigate({ session: id, compare: undefined })}>
        {info === undefined ? id : titleOf(info)}
      </button>
      {info !== undefined && (
        <span className="faint compare-date">
          <DateText at={info.createdAt} />
        </span>
      )}
    </h2>
  )
}

function Figures({ a, b }: { readonly a: SessionHandle; readonly b: SessionHandle }) {
  const left = [useView(a.log, transcriptView), useView(a.log, usageView)] as const
  const right = [useView(b.log, transcriptView), useView(b.log, usageView)] as const
  const rows = figuresOf(
    { log: a.log, transcript: left[0], usage: left[1] },
    { log: b.log, transcript: right[0], usage: right[1] },
  )
  return (
    <section aria-label="Figures">
      <table className="figures">
        <tbody>
          {rows.map((row: Figure) => (
            <tr key={row.name} className={row.left === row.right ? '' : 'differs'}>
              <th scope="row">{row.name}</th>
              <td>{row.left}</td>
              <td>
                {row.right}
                {row.delta !== undefined && <span className="number faint delta">{row.delta}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const tones = { added: 'ok', changed: 'warn', removed: 'bad' } as const
const words = { added: 'right only', changed: 'differs', removed: 'left only' } as const

function StateDifferences({ a, b }: { readonly a: SessionHandle; readonly b: SessionHandle }) {
  const left = useView(a.log, stateView)
  const right = useView(b.log, stateView)
  const differences = useMemo(() => diffState(left.current, right.current), [left, right])
  return (
    <section aria-label="State">
      <h2>Final state</h2>
      {differences.length === 0 && <p className="faint">Identical on both sides.</p>}
      <ul className="state-differences">
        {differences.slice(0, 200).map(({ path, kind, before, after }) => (
          <li key={path}>
            <code>{path}</code>
            <Pill tone={tones[kind]}>{words[kind]}</Pill>
            <pre>{before === undefined ? '—' : JSON.stringify(before)}</pre>
            <pre>{after === undefined ? '—' : JSON.stringify(after)}</pre>
          </li>
        ))}
      </ul>
    </section>
  )
}

const labels = { same: undefined, changed: 'differs', left: 'left only', right: 'right only' } as const

function PairRow({ pair }: { readonly pair: Pairing }) {
  const { left, right, kind } = pair
  return (
    <div className={`pair ${kind}`} data-testid={`pair-${kind}`} id={`pair ${pair.key}`}>
      <div>{left !== undefined && <Side message={left} other={right} kind="del" />}</div>
      <div>{right !== undefined && <Side message={right} other={left} kind="ins" />}</div>
      {labels[kind] !== undefined && <span className="visually-hidden">{labels[kind]}</span>}
    </div>
  )
}

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
        {message.parts.map((part) =>
          part.kind === 'tool' ? <ToolCardRow key={part.key} card={part} run={message.run} /> : null,
        )}
      </div>
    </article>
  )
}

function showPair(key: string): void {
  document.getElementById(`pair ${key}`)?.scrollIntoView({ block: 'center' })
}

function DateText({ at }: { readonly at: number }) {
  return useDateText(at)
}
