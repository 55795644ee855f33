import { adkIngest, type JsonObject, type PatchOp, type Recorded } from '@millrace/core'
import { isShared, restoredPages } from '@millrace/core/store'
import { z } from 'zod'
import type { ImportedText, ImportReading } from '../../recording/import-thread.ts'
import { parseJsonBody } from '../doors/json-body.ts'
import { validateBody } from '../doors/validate-body.ts'
import { boundState } from '../run-input.ts'
import { nameIn, withoutName } from './adk-session.ts'

export const createBody = z
  .looseObject({
    sessionId: z.string().min(1).max(200).optional(),
    state: z.record(z.string(), z.json()).nullish(),
    events: z.array(z.record(z.string(), z.unknown())).max(50_000).nullish(),
  })
  .nullish()

/** How a session is made from a body. */
export interface SessionImport {
  /** The id of a session whose body has none. */
  readonly id: string
  readonly now: number
  /** Bytes of its state, as JSON. */
  readonly state: number
}

/** What a body says of its session, besides the events. */
export interface ImportedSession {
  readonly id: string
  /** The name that a person gave it. */
  readonly name?: string
  /** The values that sessions share. */
  readonly shared: readonly PatchOp[]
}

export function sessionReading(work: SessionImport): ImportReading<ImportedSession> {
  return {
    entry: new URL('./session-import-worker.js', import.meta.url),
    work,
    here: async (text) => readSession(parseJsonBody(text), work),
    isStrict: true,
  }
}

export function readSession(body: unknown, { id, now, state: most }: SessionImport): ImportedText<ImportedSession> {
  const { sessionId = id, state, events } = validateBody(createBody, body) ?? {}
  const given = (state ?? {}) as JsonObject
  boundState({ state: most }, given, 'state')
  const { own, shared } = scopesOf(withoutName(given))
  const name = nameIn(given)
  const printed = restoredPages()
  const pages = importedRows(sessionId, events ?? [], own, now).flatMap((row) => printed.push(row) ?? [])
  const about = { id: sessionId, shared: patchOf(shared), ...(name === undefined ? {} : { name }) }
  return { about, pages: [...pages, printed.end()] }
}

/** The rows of an imported session: its ADK events as they are, grouped into runs, then its state. */
function importedRows(
  session: string,
  events: readonly unknown[],
  state: JsonObject,
  now: number,
): readonly Recorded[] {
  const ingest = adkIngest()
  const rows: Recorded[] = []
  const put = (at: number, run: string, event: Recorded['event']): void => {
    rows.push({ seq: rows.length + 1, at, run, event })
  }
  let run = ''
  for (const raw of events) {
    const taken = ingest(raw)
    if ('reason' in taken) {
      put(now, run, { kind: 'foreign', dialect: 'adk', raw: JSON.stringify(raw), reason: taken.reason })
      continue
    }
    const { invocationId = `${session}-imported`, author, timestamp, content } = taken.event
    if (invocationId !== run) {
      if (run !== '') put(timestamp, run, { kind: 'run.finished', outcome: 'done' })
      run = invocationId
      const messages =
        author === 'user' && content !== undefined ? [{ id: taken.event.id, role: 'user' as const, content }] : []
      put(timestamp, run, { kind: 'run.started', agent: author === 'user' ? '' : author, input: { messages } })
      if (messages.length > 0) continue
    }
    put(timestamp, run, { kind: 'agent', ...taken })
  }
  if (run !== '') put(rows.at(-1)?.at ?? now, run, { kind: 'run.finished', outcome: 'done' })
  const patch = patchOf(state)
  if (patch.length > 0) put(now, '', { kind: 'state', patch })
  return rows
}

/** ADK keeps `temp:` keys for one invocation only: nothing stores them. */
export function withoutTemporary(state: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('temp:')))
}

/** The state that belongs to the session, and the state that sessions share. */
function scopesOf(state: JsonObject): { readonly own: JsonObject; readonly shared: JsonObject } {
  const entries = Object.entries(withoutTemporary(state))
  return {
    own: Object.fromEntries(entries.filter(([key]) => !isShared(key))),
    shared: Object.fromEntries(entries.filter(([key]) => isShared(key))),
  }
}

/** Sets these top-level keys of the state. */
export const patchOf = (state: JsonObject): readonly PatchOp[] =>
  Object.entries(state).map(([key, value]) => ({ op: 'add', path: pointer(key), value }))

const pointer = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
