import { defined } from '@millrace/core'

interface FigureListProps {
  /** Each figure with its name, in the order in which they are shown. */
  readonly figures: readonly (readonly [name: string, value: string | undefined])[]
  readonly className?: string
  readonly testId?: string
}

/** Named figures side by side. */
export function FigureList({ figures, className, testId }: FigureListProps) {
  return (
    <dl className={className === undefined ? 'totals' : `totals ${className}`} {...defined({ 'data-testid': testId })}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
