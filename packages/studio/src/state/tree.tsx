import { type Difference, type Json, preview } from '@millrace/core'
import { useState } from 'react'
import { IconButton } from '../ui/controls.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { childPointer, isBranch } from './paths.ts'

interface TreeRowProps {
  readonly name: string
  readonly path: string
  readonly value: Json
  readonly changed: ReadonlyMap<string, Difference['kind']>
  readonly onWatch: (path: string) => void
  /** Edits the value and runs on; absent where no run could go on. */
  readonly onEdit?: ((path: string, value: Json) => void) | undefined
}

const mostChildren = 100

/** One value. Its children are only rendered when it is opened. */
export function TreeRow({ name, path, value, changed, onWatch, onEdit }: TreeRowProps) {
  const branch = isBranch(value)
  const [open, setOpen] = useState(false)
  const [shown, setShown] = useState(mostChildren)
  const own = changed.get(path)
  const inside = own === undefined && branch && [...changed.keys()].some((each) => each.startsWith(`${path}/`))
  const children = branch && open ? Object.entries(value) : []
  return (
    <li>
      <div className={`tree-row ${own ?? (inside ? 'inside' : '')}`}>
        <button
          type="button"
          className="tree-main"
          aria-expanded={branch ? open : undefined}
          onClick={() => (branch ? setOpen(!open) : onWatch(path))}
          title={branch ? path : `${path}: show its history`}
        >
          <span className={`twist ${open ? 'open' : ''}`}>{branch && <Icon name="right" size={11} />}</span>
          <span className="tree-key">{name}</span>
          <span className={`tree-value ${typeOf(value)} ellipsis`}>{open ? sizeOf(value) : preview(value, 160)}</span>
        </button>
        <span className="tree-actions">
          <CopyButton text={path} label="Copy the path" />
          <CopyButton
            text={() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
            label="Copy the value"
          />
          <IconButton icon="timeline" label="History of this value" onClick={() => onWatch(path)} />
          {onEdit !== undefined && (
            <IconButton
              icon="pencil"
              label="Edit and run on"
              data-testid="edit-value"
              onClick={() => onEdit(path, value)}
            />
          )}
        </span>
      </div>
      {open && (
        <ul className="tree">
          {children.slice(0, shown).map(([key, item]) => (
            <TreeRow
              key={key}
              name={key}
              path={childPointer(path, key)}
              value={item as Json}
              changed={changed}
              onWatch={onWatch}
              onEdit={onEdit}
            />
          ))}
          {children.length > shown && (
            <li>
              <button type="button" className="more" onClick={() => setShown(shown * 4)}>
                {children.length - shown} more
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  )
}

function typeOf(value: Json): string {
  return value === null ? 'null' : typeof value
}

function sizeOf(value: Json): string {
  if (!isBranch(value)) return preview(value, 160)
  const count = Object.keys(value).length
  return Array.isArray(value) ? `${count} items` : `${count} keys`
}
