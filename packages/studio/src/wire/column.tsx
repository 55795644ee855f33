import type { DialectName } from '@millrace/core'
import type { SessionHandle } from '@millrace/react'
import { useEffect, useMemo, useReducer, useState, useSyncExternalStore } from 'react'
import { root } from '../app/route.ts'
import { isFile } from '../session/files.ts'
import { Empty } from '../ui/controls.tsx'
import { LabelledCopy } from '../ui/copy.tsx'
import { FrameList } from './frame-list.tsx'
import { asCurl, countUpTo, framesOf, typesUpTo, wireTextOf } from './frames.ts'

interface WireColumnProps {
  readonly session: SessionHandle
  readonly dialect: DialectName
  readonly at: number | undefined
  /** Only frames that contain these words, in lower case. */
  readonly words: string
  readonly raw: boolean
}

/** The frames of one dialect, with a chip for each type. */
export function WireColumn({ session, dialect, at, words, raw }: WireColumnProps) {
  const [only, setOnly] = useState<ReadonlySet<string>>(new Set())
  const { printed, size, types, done } = useFrames(session, dialect)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the array is always the same one, so its size shows the change
  const found = useMemo(
    () =>
      words === '' && only.size === 0
        ? printed
        : printed.filter(
            (frame) =>
              (only.size === 0 || only.has(frame.name)) &&
              (words === '' || wireTextOf(frame).toLowerCase().includes(words)),
          ),
    [printed, size, words, only],
  )
  const count = at === undefined ? found.length : countUpTo(found, at)
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const here = useMemo(() => (at === undefined ? types : typesUpTo(printed, at)), [printed, size, types, at])
  const filtered = words !== '' || only.size > 0
  return (
    <section className="wire-column" aria-label={`Frames in ${dialect}`} data-testid="wire-column">
      <div className="wire-line">
        <span className="number">
          {count.toLocaleString('en')} {count === 1 ? 'frame' : 'frames'}
          {!done && <span className="faint"> so far…</span>}
        </span>
        <span className="spacer" />
        {!isFile(session.id) && <LabelledCopy label="as curl" text={() => asCurl(root, session.id, dialect, 0)} />}
        <LabelledCopy label="all" text={() => found.slice(0, count).map(wireTextOf).join('')} />
      </div>
      <TypeChips types={types} here={here} only={only} onOnly={setOnly} />
      {count === 0 ? (
        <Empty icon="wire" title={filtered ? 'No matching frames' : 'No frames yet'}>
          {filtered
            ? 'Try a type, an id or a word from the text.'
            : `This session has no ${dialect} frames up to this moment.`}
        </Empty>
      ) : (
        <FrameList
          frames={found}
          count={count}
          began={session.log.rows[0]?.at ?? 0}
          at={at}
          done={done}
          raw={raw}
          curl={(seq) => asCurl(root, session.id, dialect, seq)}
        />
      )}
    </section>
  )
}

/** This many types have a chip; rare ones are found by the search. */
const mostChips = 14

interface TypeChipsProps {
  /** Of the whole session: they decide which chips there are, and in which order, so that no chip moves with the cursor. */
  readonly types: ReadonlyMap<string, number>
  /** Up to the cursor. */
  readonly here: ReadonlyMap<string, number>
  readonly only: ReadonlySet<string>
  readonly onOnly: (only: ReadonlySet<string>) => void
}

function TypeChips({ types, here, only, onOnly }: TypeChipsProps) {
  const toggle = (name: string): void => {
    const next = new Set(only)
    if (!next.delete(name)) next.add(name)
    onOnly(next)
  }
  const most = [...types].sort((a, b) => b[1] - a[1]).slice(0, mostChips)
  if (most.length < 2) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a scrolling row
    <div className="chips scroll" role="group" aria-label="Types of frames">
      {most.map(([name]) => (
        <button
          type="button"
          key={name}
          className="chip"
          aria-pressed={only.has(name)}
          data-testid="wire-chip"
          onClick={() => toggle(name)}
        >
          {name} <span className="number faint">{(here.get(name) ?? 0).toLocaleString('en')}</span>
        </button>
      ))}
    </div>
  )
}

/** All frames of a session. Missing tokens are loaded, and the frames are encoded in several passes. */
function useFrames(session: SessionHandle, dialect: DialectName) {
  const { log, id } = session
  const rows = useSyncExternalStore(log.subscribe, () => log.rows)
  const [, printMore] = useReducer((turn: number) => turn + 1, 0)
  useEffect(() => void session.fill(), [session])
  const { frames, types, done } = framesOf(log, id, dialect)
  useEffect(() => {
    if (done) return
    const frame = requestAnimationFrame(printMore)
    return () => cancelAnimationFrame(frame)
  })
  return { printed: frames, size: frames.length, types, done, rows }
}
