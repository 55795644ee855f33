import {
  diffState,
  type Json,
  type JsonObject,
  type Recorded,
  type SessionState,
  type StateChange,
  stateAt,
  stateView,
} from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'
import { useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { openChange } from '../change/open-change.ts'
import { isFile } from '../session/files.ts'
import { rowIndexAt } from '../session/row-index.ts'
import { Empty, IconButton, Pill } from '../ui/controls.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { Differences } from './differences.tsx'
import { History } from './history.tsx'
import { childPointer, searchState, writerOf } from './paths.ts'
import { TreeRow } from './tree.tsx'
import './state.css'

/** The state at the cursor, its last change, and the history of each value. */
export function StatePanel({ session, at }: PanelProps) {
  const whole = useView(session.log, stateView)
  const [words, setWords] = useState('')
  const [pinned, setPinned] = useState<number>()
  const [watched, setWatched] = useState<string>()
  const { current, base, baseSeq, last } = useMemo(() => moment(whole, at, pinned), [whole, at, pinned])
  const differences = useMemo(() => diffState(base, current), [base, current])
  const changed = useMemo(() => new Map(differences.map(({ path, kind }) => [path, kind])), [differences])
  const found = useMemo(() => (words === '' ? undefined : searchState(current, words)), [current, words])
  if (whole.changes.length === 0) {
    return (
      <Empty icon="state" title="No state yet">
        Keys appear here as agents, tools and clients write them, with their history.
      </Empty>
    )
  }
  const here = at ?? session.log.lastSeq
  const run = runAt(session.log.rows, here)
  const edit =
    run === undefined || isFile(session.id)
      ? undefined
      : (path: string, value: Json): void =>
          void openChange(session.id, { field: 'state', run, seq: here, path, value })
  return (
    <div className="state-panel scroll">
      <div className="panel-bar">
        <SearchField label="Search the state" placeholder="Search keys and values" value={words} onChange={setWords} />
        <IconButton
          icon="pin"
          label={pinned === undefined ? 'Pin this moment and compare others with it' : 'Unpin and show the last change'}
          aria-pressed={pinned !== undefined}
          data-testid="state-pin"
          onClick={() => setPinned(pinned === undefined ? here : undefined)}
        />
      </div>
      {watched !== undefined && <History state={whole} path={watched} at={at} onClose={() => setWatched(undefined)} />}
      <section className="panel-section">
        <h3>
          {pinned === undefined ? 'Last change' : 'Since the pinned moment'}
          <Pill tone={pinned === undefined ? 'soft' : 'accent'}>{differences.length}</Pill>
          <span className="spacer" />
          {pinned !== undefined && <span className="faint">pinned at</span>}
          {baseSeq !== undefined && <SeqLink seq={baseSeq} />}
          {pinned === undefined && last !== undefined && <span className="faint">by {writerOf(last)}</span>}
        </h3>
        <Differences differences={differences} onWatch={setWatched} />
      </section>
      <section className="panel-section" data-testid="state-tree" aria-label="State">
        <h3>
          {found === undefined ? 'State' : 'Results'}{' '}
          <Pill>{found === undefined ? Object.keys(current).length : found.length}</Pill>
        </h3>
        {found?.length === 0 && <p className="nothing">No key or value contains “{words}”.</p>}
        <ul className="tree">
          {found === undefined
            ? Object.entries(current).map(([key, value]) => (
                <TreeRow
                  key={key}
                  name={key}
                  path={childPointer('', key)}
                  value={value}
                  changed={changed}
                  onWatch={setWatched}
                  onEdit={edit}
                />
              ))
            : found.map(({ path, value }) => (
                <TreeRow
                  key={path}
                  name={path.slice(1)}
                  path={path}
                  value={value}
                  changed={changed}
                  onWatch={setWatched}
                  onEdit={edit}
                />
              ))}
        </ul>
        {found === undefined && Object.keys(current).length === 0 && <p className="nothing">Empty at this moment.</p>}
      </section>
    </div>
  )
}

/** The run at this moment: that of the last event of any run. */
function runAt(rows: readonly Recorded[], seq: number): string | undefined {
  for (let i = rowIndexAt(rows, seq); i >= 0; i--) {
    const run = rows[i]?.run
    if (run !== undefined && run !== '') return run
  }
  return undefined
}

interface Moment {
  readonly current: JsonObject
  readonly base: JsonObject
  /** The event that the differences refer to: the last change, or the pinned event. */
  readonly baseSeq: number | undefined
  readonly last: StateChange | undefined
}

/** The state at the cursor, and the state to compare it with: before the last change, or at the pinned event. */
function moment(whole: SessionState, at: number | undefined, pinned: number | undefined): Moment {
  const current = at === undefined ? whole.current : stateAt(whole, at)
  const last = lastChange(whole, at, current)
  if (pinned !== undefined) return { current, base: stateAt(whole, pinned), baseSeq: pinned, last }
  return { current, base: last === undefined ? {} : stateAt(whole, last.seq - 1), baseSeq: last?.seq, last }
}

/** So many changes are looked through for one that made a difference. */
const mostLooks = 20

/** The last change up to the cursor that made a difference: agents often write what the state already has. */
function lastChange(whole: SessionState, at: number | undefined, current: JsonObject): StateChange | undefined {
  const { changes } = whole
  const after =
    at === undefined ? changes.length : firstIndexWhere(changes.length, (index) => (changes.at(index)?.seq ?? 0) > at)
  for (let index = after - 1; index >= Math.max(0, after - mostLooks); index--) {
    const change = changes.at(index)
    if (change !== undefined && diffState(stateAt(whole, change.seq - 1), current).length > 0) return change
  }
  return after === 0 ? undefined : changes.at(after - 1)
}
