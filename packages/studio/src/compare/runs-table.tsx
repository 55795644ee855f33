import { useMemo } from 'react'
import { firstDivergence } from './divergence.ts'
import { figuresOf } from './side-facts.ts'
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
  if (first === undefined) return null
  return (
    <section aria-label="Runs" className="runs-table scroll">
      <table data-testid="runs-table">
        <thead>
          <Names side={first} />
        </thead>
        <tbody>
          {sides.map((side, i) => (
            <SideRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a side may be listed twice
              key={`${sideKey(side)} ${i}`}
              side={side}
              first={first}
              isFirst={i === 0}
              isShown={i === shown}
              onShow={() => onShow(i)}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Names({ side }: { readonly side: ComparedSide }) {
  const facts = useSide(side)
  return (
    <tr>
      <th scope="col">Run</th>
      {figuresOf([facts]).map(({ name }) => (
        <th key={name} scope="col">
          {name}
        </th>
      ))}
      <th scope="col">First difference</th>
    </tr>
  )
}

interface RowProps {
  readonly side: ComparedSide
  readonly first: ComparedSide
  readonly isFirst: boolean
  readonly isShown: boolean
  readonly onShow: () => void
}

function SideRow({ side, first, isFirst, isShown, onShow }: RowProps) {
  const base = useSide(first)
  const facts = useSide(side)
  const divergence = useMemo(() => firstDivergence(base.happened, facts.happened), [base, facts])
  // The costs that the first has are the columns.
  const names = figuresOf([base]).map(({ name }) => name)
  const figures = figuresOf([base, facts]).filter(({ name }) => names.includes(name))
  return (
    <tr data-testid="runs-row" className={isShown ? 'shown' : ''}>
      <th scope="row">
        <SideName side={side} at={facts.at} />
      </th>
      {figures.map(({ name, values: [, value] }) => (
        <td key={name} className="number">
          {value?.text}
          {value?.delta !== undefined && <span className="faint delta">{value.delta}</span>}
        </td>
      ))}
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
    </tr>
  )
}
