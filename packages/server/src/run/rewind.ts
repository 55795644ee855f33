import {
  type InputMessage,
  type JsonObject,
  type PatchOp,
  pointerSegment,
  type Recorded,
  type ReplacedRun,
  type RunEvent,
} from '@millrace/core'
import { isShared } from '@millrace/core/store'
import type { LoadedSession } from './load-session.ts'
import type { StartRequest } from './run-engine.ts'
import { type SessionFacts, sessionFacts } from './session-facts.ts'

/** A session as a run that takes the place of earlier ones finds it (SPEC 4.7). */
export interface Rewound {
  /** The rows that the agent sees: those of replaced runs are left out. */
  readonly history: readonly Recorded[]
  readonly facts: SessionFacts
  /** What `run.started` records; undefined when no run is replaced. */
  readonly replaces: readonly ReplacedRun[] | undefined
  /** Returns the state to what it was, where replaced runs have changed it. */
  readonly undo: readonly RunEvent[]
}

export function rewind({ rows, facts }: LoadedSession, { replaces = [], input }: StartRequest): Rewound {
  const again = replaces.filter((run) => facts.runs.has(run) && !facts.replaced.has(run))
  const gone = new Set([...facts.replaced, ...again])
  const history = gone.size === 0 ? rows : rows.filter(({ run }) => !gone.has(run))
  if (again.length === 0) return { history, facts, replaces: undefined, undo: [] }
  const before = sessionFacts(history)
  return {
    history,
    facts: { ...before, runs: facts.runs, forks: facts.forks },
    replaces: again.map((run) => replacedRun(rows, run, input.messages)),
    undo: undoOf(facts.state, before.state, input.state ?? {}),
  }
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
