import { diffState } from '@millrace/core'
import { useSession } from '@millrace/react'
import { type ReactNode, useMemo, useState } from 'react'
import { useKeyboard } from '../app/keyboard.ts'
import { navigate } from '../app/route.ts'
import { changeSentence } from '../conversation/change-sentence.ts'
import { useAgentColours } from '../session/agents-seen.ts'
import { useSessions } from '../session/sessions.ts'
import { Button, Pill } from '../ui/controls.tsx'
import { eventNumber } from '../ui/event-number.ts'
import { TextBlock } from '../ui/text-block.tsx'
import { align, type Pairing } from './align.ts'
import { type Divergence, firstDivergence } from './divergence.ts'
import { PairList, showPair } from './pair-list.tsx'
import { RunsTable } from './runs-table.tsx'
import { figuresOf, type SideFacts, toolFigures } from './side-facts.ts'
import { SideName } from './side-name.tsx'
import { type ComparedSide, printSides, readSides, sideKey } from './sides.ts'
import { useIsLoading, useSide, useSideActions } from './use-side.ts'
import '../conversation/conversation.css'
import './compare.css'

/** Sessions or runs side by side; more than two also as a table, of which one is shown beside the first. */
export function Compare({ open, compare }: { readonly open: string; readonly compare: string }) {
  const sides = useMemo(() => readSides(compare, open), [compare, open])
  const [shown, setShown] = useState(1)
  const left = sides[0] ?? { session: open }
  const right = sides[shown] ?? sides[1] ?? left
  const more = useOtherForks(sides)
  useKeyboard(undefined)
  return (
    <main className="compare" data-testid="compare">
      <Pair key={sideKey(right)} left={left} right={right} more={more}>
        {sides.length > 2 && <RunsTable sides={sides} shown={shown} onShow={setShown} />}
      </Pair>
    </main>
  )
}

/** The other sessions that were forked from the first one. */
function useOtherForks(sides: readonly ComparedSide[]): readonly ComparedSide[] {
  const sessions = useSessions((state) => state.sessions)
  const first = sides[0]
  if (first === undefined || first.run !== undefined || sides.length > 2) return []
  const known = new Set(sides.map(({ session }) => session))
  return sessions
    .filter(({ id, forkOf }) => forkOf?.session === first.session && !known.has(id))
    .slice(0, mostForks)
    .map(({ id }) => ({ session: id }))
}

const mostForks = 18

interface PairProps {
  readonly left: ComparedSide
  readonly right: ComparedSide
  /** Sides that could be added. */
  readonly more: readonly ComparedSide[]
  readonly children: ReactNode
}

/** Two sides: figures, final state and messages, with the differences marked. */
function Pair(props: PairProps) {
  const isLoading = [useIsLoading(props.left), useIsLoading(props.right)].includes(true)
  return isLoading ? (
    <p className="compare-loading faint" role="status">
      Loading both sides…
    </p>
  ) : (
    <LoadedPair {...props} />
  )
}

function LoadedPair({ left, right, more, children }: PairProps) {
  // The colours of the first side, which are those that its agents have on their own page.
  useAgentColours(useSession(left.session))
  const a = useSide(left)
  const b = useSide(right)
  const [ofLeft, ofRight] = [useSideActions(left), useSideActions(right)]
  const actions = useMemo(() => [ofLeft, ofRight] as const, [ofLeft, ofRight])
  const pairs = useMemo(() => align(a.messages, b.messages), [a, b])
  const divergence = useMemo(() => firstDivergence(a.happened, b.happened), [a, b])
  const me = useSessions((state) => state.caller?.user)
  const different = pairs.filter(({ kind }) => kind !== 'same').length
  return (
    <>
      <header className="conversation-head">
        <h1>Compare</h1>
        <span className="compare-count">
          {different === 0 ? 'Identical text' : `${different} of ${pairs.length} messages differ`}
        </span>
        {more.length > 0 && (
          <Button icon="plus" onClick={() => navigate({ compare: printSides([left, right, ...more]) })}>
            {more.length === 1 ? 'Add 1 more fork' : `Add ${more.length} more forks`}
          </Button>
        )}
        <Button icon="close" onClick={() => navigate({ compare: undefined })}>
          Close
        </Button>
      </header>
      <div className="compare-body scroll">
        {children}
        <div className="compare-names">
          <h2 className="ellipsis">
            <SideName side={left} at={a.at} />
          </h2>
          <h2 className="ellipsis">
            <SideName side={right} at={b.at} />
          </h2>
        </div>
        {b.changes.map((change) => (
          <p key={change.key} className="divergence" data-testid="compare-change">
            {changeSentence(change, me)}, event {eventNumber(change.of.seq)}.
          </p>
        ))}
        {divergence !== undefined && <FirstDifference divergence={divergence} pairs={pairs} />}
        <Figures sides={[a, b]} />
        <StateDifferences a={a} b={b} />
        <PairList pairs={pairs} actions={actions} />
      </div>
    </>
  )
}

function FirstDifference({
  divergence,
  pairs,
}: {
  readonly divergence: Divergence
  readonly pairs: readonly Pairing[]
}) {
  const key = pairOf(divergence, pairs)
  return (
    <p className="divergence" data-testid="divergence">
      First difference: <b>{divergence.name}</b>{' '}
      {key !== undefined && (
        <button type="button" className="link" onClick={() => showPair(key)}>
          Show it
        </button>
      )}
    </p>
  )
}

/** The first pair that differs from there on: a request may differ before any message does. */
function pairOf({ seq, side }: Divergence, pairs: readonly Pairing[]): string | undefined {
  const differs = pairs.filter(({ kind }) => kind !== 'same')
  const after = differs.find((pair) => (pair[side]?.endSeq ?? pair[side]?.seq ?? 0) >= seq)
  return (after ?? differs[0])?.key
}

function Figures({ sides }: { readonly sides: readonly SideFacts[] }) {
  return (
    <section aria-label="Figures">
      <table className="figures">
        <tbody>
          {[...figuresOf(sides), ...toolFigures(sides)].map(({ name, values: [left, right] }) => (
            <tr key={name} className={left?.text === right?.text ? '' : 'differs'}>
              <th scope="row">{name}</th>
              <td>{left?.text}</td>
              <td>
                {right?.text}
                {right?.delta !== undefined && <span className="number faint delta">{right.delta}</span>}
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

function StateDifferences({ a, b }: { readonly a: SideFacts; readonly b: SideFacts }) {
  const differences = useMemo(() => diffState(a.state, b.state), [a.state, b.state])
  return (
    <section aria-label="State">
      <h2>Final state</h2>
      {differences.length === 0 && <p className="faint">Identical on both sides.</p>}
      <ul className="state-differences">
        {differences.slice(0, 200).map(({ path, kind, before, after }) => (
          <li key={path}>
            <code>{path}</code>
            <Pill tone={tones[kind]}>{words[kind]}</Pill>
            <TextBlock label={`${path}, left`}>{before === undefined ? '—' : JSON.stringify(before)}</TextBlock>
            <TextBlock label={`${path}, right`}>{after === undefined ? '—' : JSON.stringify(after)}</TextBlock>
          </li>
        ))}
      </ul>
    </section>
  )
}
