import { useSession, useView } from '@millrace/react'
import { useMemo } from 'react'
import { runsView } from '../session/runs.ts'
import { firstDivergence } from './divergence.ts'
import { figuresOf, type SideFacts } from './side-facts.ts'
import { SideName } from './side-name.tsx'
import { type ComparedSide, sideKey } from './sides.ts'
import { useSide } from './use-side.ts'

interface TableProps {
  readonly sides: readonly ComparedSide[]
  /** The side that is shown beside the first. */
  readonly shown: number
  readonly onShow: (index: number) => void
}

/** Several runs, one in each line, compared with the first. */
export function RunsTable({ sides, shown, onShow }: TableProps) {
  const [first] = sides
  return first === undefined ? null : <Rows sides={sides} first={first} shown={shown} onShow={onShow} />
}

function Rows({ sides, first, shown, onShow }: TableProps & { readonly first: ComparedSide }) {
  const base = useSide(first)
  const names = useMemo(() => figuresOf([base]).map(({ name }) => name), [base])
  const all = useRunCount(first)
  return (
    <section aria-label="Runs" className="runs-table scroll">
      <table data-testid="runs-table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">First difference</th>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sides.map((side, i) => (
            <SideRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a side may be listed twice
              key={`${sideKey(side)} ${i}`}
              side={side}
              base={base}
              names={names}
              isFirst={i === 0}
              isShown={i === shown}
              onShow={() => onShow(i)}
            />
          ))}
        </tbody>
      </table>
      {all > sides.length && (
        <p className="faint">
          The newest {sides.length} of {all.toLocaleString('en')} runs.
        </p>
      )}
    </section>
  )
}

/** How many runs the session has, where the sides are its runs. */
function useRunCount({ session, run }: ComparedSide): number {
  const { log } = useSession(session)
  const count = useView(log, runsView).length
  return run === undefined ? 0 : count
}

interface RowProps {
  readonly side: ComparedSide
  /** The facts of the first side, and the figures that are its columns. */
  readonly base: SideFacts
  readonly names: readonly string[]
  readonly isFirst: boolean
  readonly isShown: boolean
  readonly onShow: () => void
}

function SideRow({ side, base, names, isFirst, isShown, onShow }: RowProps) {
  const facts = useSide(side)
  const divergence = useMemo(() => firstDivergence(base.happened, facts.happened), [base, facts])
  const figures = figuresOf([base, facts]).filter(({ name }) => names.includes(name))
  return (
    <tr data-testid="runs-row" className={isShown ? 'shown' : ''}>
      <th scope="row">
        <SideName side={side} at={facts.at} />
      </th>
      <td>
        {isFirst ? (
          <span className="faint">compared with this one</span>
        ) : (
          <>
            {divergence?.name ?? 'none'}{' '}
            <button type="button" className="link" aria-pressed={isShown} onClick={onShow}>
              Show
            </button>
          </>
        )}
      </td>
      {figures.map(({ name, values: [, value] }) => (
        <td key={name} className="number">
          {value?.text}
          {value?.delta !== undefined && <span className="faint delta">{value.delta}</span>}
        </td>
      ))}
    </tr>
  )
}
