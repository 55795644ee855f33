import { diffState, type JsonObject, type SessionState, type StateChange, stateAt, stateView } from '@millrace/core'
import { useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { Empty, IconButton, Pill } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { Differences } from './differences.tsx'
import { History } from './history.tsx'
import { searchState, writerOf } from './paths.ts'
import { TreeRow } from './tree.tsx'
import './state.css'

/** What the agents know at this moment, what changed, and how each value came to be. */
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
        As soon as an agent, a tool or a client writes a key, it stands here, with everything that becomes of it.
      </Empty>
    )
  }
  const here = at ?? session.log.lastSeq
  return (
    <div className="state-panel scroll">
      <div className="panel-bar">
        <label className="search">
          <Icon name="search" size={14} />
          <input
            type="search"
            placeholder="Search keys and values"
            aria-label="Search the state"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
        <IconButton
          icon="pin"
          label={pinned === undefined ? 'Compare later moments with this one' : 'Compare with the step before again'}
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
          {found === undefined ? 'State' : 'Found'}{' '}
          <Pill>{found === undefined ? Object.keys(current).length : found.length}</Pill>
        </h3>
        {found?.length === 0 && <p className="nothing">No key and no value contains “{words}”.</p>}
        <ul className="tree">
          {found === undefined
            ? Object.entries(current).map(([key, value]) => (
                <TreeRow
                  key={key}
                  name={key}
                  path={`/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`}
                  value={value}
                  changed={changed}
                  onWatch={setWatched}
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
                />
              ))}
        </ul>
        {found === undefined && Object.keys(current).length === 0 && <p className="nothing">Empty at this moment.</p>}
      </section>
    </div>
  )
}

interface Moment {
  readonly current: JsonObject
  readonly base: JsonObject
  /** The event the differences are told from: the change itself, or the pinned one. */
  readonly baseSeq: number | undefined
  readonly last: StateChange | undefined
}

/** The state at the cursor, and the one it is compared with: before the last change, or at the pin. */
function moment(whole: SessionState, at: number | undefined, pinned: number | undefined): Moment {
  const current = at === undefined ? whole.current : stateAt(whole, at)
  const last = lastChange(whole, at)
  if (pinned !== undefined) return { current, base: stateAt(whole, pinned), baseSeq: pinned, last }
  return { current, base: last === undefined ? {} : stateAt(whole, last.seq - 1), baseSeq: last?.seq, last }
}

function lastChange({ changes }: SessionState, at: number | undefined): StateChange | undefined {
  if (at === undefined) return changes.at(-1)
  let low = 0
  let high = changes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((changes.at(middle)?.seq ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low === 0 ? undefined : changes.at(low - 1)
}
