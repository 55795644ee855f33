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

/** Two sessions side by side: how long, how much, which tools, which state, and what was said, differences marked. */
export function Compare({ left, right }: { readonly left: string; readonly right: string }) {
  const a = useSession(left)
  const b = useSession(right)
  useKeyboard(undefined)
  const pairs = usePairs(a, b)
  const different = pairs.filter(({ mark }) => mark !== 'same').length
  return (
    <main className="compare" data-testid="compare">
      <header className="conversation-head">
        <h1>Compare</h1>
        <span className="compare-count">
          {different === 0 ? 'the same words' : `${different} of ${pairs.length} messages differ`}
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
        <section aria-label="What was said">
          <h2>What was said</h2>
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
  const rows = figuresOf({ log: a.log, said: left[0], used: left[1] }, { log: b.log, said: right[0], used: right[1] })
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
const words = { added: 'only right', changed: 'differs', removed: 'only left' } as const

function StateDifferences({ a, b }: { readonly a: SessionHandle; readonly b: SessionHandle }) {
  const left = useView(a.log, stateView)
  const right = useView(b.log, stateView)
  const differences = useMemo(() => diffState(left.current, right.current), [left, right])
  return (
    <section aria-label="State">
      <h2>State at the end</h2>
      {differences.length === 0 && <p className="faint">The same on both sides.</p>}
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

const marks = { same: undefined, changed: 'differs', left: 'only left', right: 'only right' } as const

function PairRow({ pair }: { readonly pair: Pairing }) {
  const { left, right, mark } = pair
  return (
    <div className={`pair ${mark}`} data-testid={`pair-${mark}`}>
      <div>{left !== undefined && <ItemRow item={left} />}</div>
      <div>{right !== undefined && <ItemRow item={right} />}</div>
      {marks[mark] !== undefined && <span className="visually-hidden">{marks[mark]}</span>}
    </div>
  )
}
