import { defined, type FlowKey, preview } from '@millrace/core'
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react'
import { mostPills, type Point, roundedPath } from './layout.ts'

export type LinkEdge = Edge<
  {
    readonly points: readonly Point[]
    readonly label: Point | undefined
    readonly count: number
    readonly keys: readonly FlowKey[]
    readonly latest: boolean
    readonly planned: boolean
    readonly answered: boolean
    /** The key under the pointer or with the focus, anywhere in the graph. */
    readonly lit: string | undefined
    readonly onLit: (key: string | undefined) => void
  },
  'link'
>

/** A link between two nodes: how often it was taken, and which state keys it carried. */
export function LinkEdgeView({ id, data, markerEnd, markerStart }: EdgeProps<LinkEdge>) {
  if (data === undefined) return null
  const { points, label, count, keys, latest, planned, answered, lit, onLit } = data
  const carries = lit !== undefined && keys.some(({ key }) => key === lit)
  const state = count === 0 ? (planned ? 'planned' : 'ahead') : carries ? 'carries' : latest ? 'latest' : 'taken'
  const dimmed = lit !== undefined && !carries
  const shown = keys.slice(0, mostPills)
  return (
    <>
      <BaseEdge
        id={id}
        path={roundedPath(points)}
        className={`link-edge ${state} ${dimmed ? 'dimmed' : ''}`}
        {...defined({ markerEnd, markerStart })}
        interactionWidth={0}
      />
      {label !== undefined && count > 0 && (
        <EdgeLabelRenderer>
          <div
            className={`edge-pills ${dimmed ? 'dimmed' : ''} nodrag nopan`}
            style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
          >
            {shown.map(({ key, value }) => (
              <KeyPill key={key} name={key} value={preview(value, 300)} lit={lit === key} onLit={onLit} />
            ))}
            {keys.length > shown.length && (
              <span
                className="key-pill rest"
                title={keys
                  .slice(mostPills)
                  .map(({ key }) => key)
                  .join('\n')}
              >
                +{keys.length - shown.length} keys
              </span>
            )}
            {count > 1 && (
              <span
                className={`edge-count number ${keys.length === 0 ? 'alone' : ''}`}
                title={`Taken ${count} times${answered ? ', and returned' : ''}`}
              >
                {count}×
              </span>
            )}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  )
}

function KeyPill({
  name,
  value,
  lit,
  onLit,
}: {
  readonly name: string
  readonly value: string
  readonly lit: boolean
  readonly onLit: (key: string | undefined) => void
}) {
  return (
    <button
      type="button"
      className={`key-pill ${lit ? 'lit' : ''}`}
      data-testid="flow-key"
      onPointerEnter={() => onLit(name)}
      onPointerLeave={() => onLit(undefined)}
      onFocus={() => onLit(name)}
      onBlur={() => onLit(undefined)}
      aria-label={`${name}: ${value}`}
    >
      <span className="ellipsis">{name}</span>
      <span className="key-value" role="tooltip">
        <b>{name}</b>
        <code>{value}</code>
      </span>
    </button>
  )
}
