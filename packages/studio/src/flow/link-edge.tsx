import { defined, preview } from '@millrace/core'
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react'
import { useId, useState } from 'react'
import { Tooltip } from '../ui/tooltip.tsx'
import type { Carried } from './drawing.ts'
import { roundedPath } from './layout.ts'
import { mostPills, type Point } from './size.ts'

export type LinkEdge = Edge<
  Omit<Carried, 'lastSeq'> & {
    readonly points: readonly Point[]
    readonly label: Point | undefined
    readonly latest: boolean
    readonly planned: boolean
    /** The key under the pointer or with the focus, anywhere in the graph. */
    readonly lit: string | undefined
    readonly onLit: (key: string | undefined) => void
  },
  'link'
>

/** A link between two nodes: how often it was taken, and which state keys were changed along it. */
export function LinkEdgeView({ id, data, markerEnd, markerStart }: EdgeProps<LinkEdge>) {
  if (data === undefined) return null
  const { points, label, count, changed, keys, latest, planned, answered, lit, onLit } = data
  const carries = lit !== undefined && keys.has(lit)
  const state = count === 0 ? (planned ? 'planned' : 'ahead') : carries ? 'carries' : latest ? 'latest' : 'taken'
  const dimmed = lit !== undefined && !carries
  const shown = changed.slice(0, mostPills)
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
            {changed.length > shown.length && (
              <span
                className="key-pill rest"
                title={changed
                  .slice(mostPills)
                  .map(({ key }) => key)
                  .join('\n')}
              >
                +{changed.length - shown.length} {changed.length - shown.length === 1 ? 'key' : 'keys'}
              </span>
            )}
            {count > 1 && (
              <span className="edge-count number" title={`Taken ${count} times${answered ? ', and returned' : ''}`}>
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
  const id = useId()
  const [anchor, setAnchor] = useState<Element>()
  const show = (element: Element): void => {
    setAnchor(element)
    onLit(name)
  }
  const hide = (): void => {
    setAnchor(undefined)
    onLit(undefined)
  }
  return (
    <button
      type="button"
      className={`key-pill ${lit ? 'lit' : ''}`}
      data-testid="flow-key"
      onPointerEnter={(event) => show(event.currentTarget)}
      onPointerLeave={hide}
      onFocus={(event) => show(event.currentTarget)}
      onBlur={hide}
      aria-label={`${name}: ${value}`}
    >
      <span className="ellipsis">{name}</span>
      {anchor !== undefined && (
        <Tooltip anchor={anchor} id={id}>
          <b>{name}</b>
          <code>{value}</code>
        </Tooltip>
      )}
    </button>
  )
}
