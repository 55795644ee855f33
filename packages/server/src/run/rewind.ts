import {
  type InputMessage,
  type JsonObject,
  type PatchOp,
  pointerSegment,
  type Recorded,
  type ReplacedRun,
  type RunEvent,
  type SessionFacts,
  sessionFacts,
} from '@millrace/core'
import { isShared } from '@millrace/core/store'
import type { LoadedSession } from './load-session.ts'
import type { StartRequest } from './run-engine.ts'

/** A session as a run that takes the place of earlier ones finds it (SPEC 4.7). */
export interface Rewound {
  /** The facts without the replaced runs; `replaced` has all of them, also those that this run replaces. */
  readonly facts: SessionFacts
  /** What `run.started` records; undefined when no run is replaced. */
  readonly replaces: readonly ReplacedRun[] | undefined
  /** Returns the state to what it was, where replaced runs have changed it. */
  readonly undo: readonly RunEvent[]
}

/** `read` reads the rows of the session: only a run that takes the place of others needs them. */
export async function rewind(
  { facts }: LoadedSession,
  { replaces = [], input }: StartRequest,
  read: () => Promise<readonly Recorded[]>,
): Promise<Rewound> {
  const wanted = replaces.filter((run) => !facts.replaced.has(run))
  if (wanted.length === 0) return { facts, replaces: undefined, undo: [] }
  const rows = await read()
  const known = new Set(rows.flatMap(({ run, event }) => (event.kind === 'run.started' ? [run] : [])))
  const again = wanted.filter((run) => known.has(run))
  if (again.length === 0) return { facts, replaces: undefined, undo: [] }
  const replaced = new Set([...facts.replaced, ...again])
  const before = sessionFacts(withoutRuns(rows, replaced))
  return {
    facts: { ...before, replaced, seq: facts.seq, forks: facts.forks },
    replaces: again.map((run) => replacedRun(rows, run, input.messages)),
    undo: undoOf(facts.state, before.state, input.state ?? {}),
  }
}

/** The rows that an agent sees: those of replaced runs are left out. */
export function withoutRuns(rows: readonly Recorded[], gone: ReadonlySet<string>): readonly Recorded[] {
  return gone.size === 0 ? rows : rows.filter(({ run }) => !gone.has(run))
}

/** A message that the new run repeats as it was stays where it is. */
function replacedRun(rows: readonly Recorded[], run: string, repeated: readonly InputMessage[]): ReplacedRun {
  const same = new Map(repeated.map((message) => [message.id, JSON.stringify(message.content)]))
  const messages = new Set<string>()
  const nodes = new Set<string>()
  for (const { run: of, event } of rows) {
    if (of !== run) continue
    if (event.kind === 'agent') messages.add(event.message)
    else if (event.kind === 'node.started') nodes.add(event.node)
    else if (event.kind === 'run.started') {
      for (const { id, content } of event.input.messages) if (same.get(id) !== JSON.stringify(content)) messages.add(id)
    }
  }
  return { run, messages: [...messages], nodes: [...nodes] }
}

/** Values that the client sends win. Shared values belong to other sessions too, so they stay. */
function undoOf(now: JsonObject, before: JsonObject, sent: JsonObject): readonly RunEvent[] {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)])
  const patch = [...keys].flatMap((key): readonly PatchOp[] => {
    const path = pointerSegment(key)
    const value = before[key]
    if (isShared(key) || Object.hasOwn(sent, key) || JSON.stringify(now[key]) === JSON.stringify(value)) return []
    return value === undefined ? [{ op: 'remove', path }] : [{ op: 'add', path, value }]
  })
  return patch.length === 0 ? [] : [{ kind: 'state', patch }]
}
