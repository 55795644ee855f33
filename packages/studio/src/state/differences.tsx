import { type Difference, preview } from '@millrace/core'
import { useState } from 'react'

const signs = { added: '+', changed: '~', removed: '−' } as const
const most = 12

/** The values that differ, old and new. */
export function Differences({
  differences,
  onWatch,
}: {
  readonly differences: readonly Difference[]
  readonly onWatch: (path: string) => void
}) {
  const [all, setAll] = useState(false)
  if (differences.length === 0) return <p className="nothing">No differences.</p>
  const shown = all ? differences.slice(0, 500) : differences.slice(0, most)
  return (
    <ul className="differences">
      {shown.map(({ path, kind, before, after }) => (
        <li key={path} className={kind} data-testid="state-difference">
          <button type="button" onClick={() => onWatch(path)} title={`${kind}: show the history of ${path}`}>
            <span className="sign" aria-hidden="true">
              {signs[kind]}
            </span>
            <span className="visually-hidden">{kind}</span>
            <span className="tree-key">{path.slice(1)}</span>
            <span className="values">
              {before !== undefined && <del>{preview(before, 120)}</del>}
              {kind === 'changed' && <span className="faint"> → </span>}
              {after !== undefined && <ins>{preview(after, 120)}</ins>}
            </span>
          </button>
        </li>
      ))}
      {differences.length > shown.length && (
        <li>
          <button type="button" className="more" onClick={() => setAll(true)}>
            {differences.length - shown.length} more
          </button>
        </li>
      )}
    </ul>
  )
}
