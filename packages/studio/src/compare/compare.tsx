import { diffState, itemsOf, stateView, transcriptView, usageView } from '@millrace/core'
import { type SessionHandle, useSession, useView } from '@millrace/react'
import { useMemo } from 'react'
import { useKeyboard } from '../app/keyboard.ts'
import { navigate } from '../app/route.ts'
import { ItemRow } from '../conversation/item-row.tsx'
import { titleOf, useSessionInfo } from '../session/sessions.ts'
import { Button, Pill } from '../ui/controls.tsx'
import { align, messagesOf, type Pairing } from './align.ts'
import { type Figure, figuresOf } from './figures.ts'
import '../conversation/conversation.css'
import './compare.css'

/** Two sessions side by side: figures, final state and messages, with the differences marked. */
export function Compare({ left, right }: { readonly left: string; readonly right: string }) {
  const a = useSession(left)
  const b = useSession(right)
  useKeyboard(undefined)
  const pairs = usePairs(a, b)
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
              <td>{row.right}</td>
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
    <div className={`pair ${kind}`} data-testid={`pair-${kind}`}>
      <div>{left !== undefined && <ItemRow item={left} />}</div>
      <div>{right !== undefined && <ItemRow item={right} />}</div>
      {labels[kind] !== undefined && <span className="visually-hidden">{labels[kind]}</span>}
    </div>
  )
}
