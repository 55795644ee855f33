import type { AdkEvent } from '../../event/adk-event.ts'
import { requestOf } from '../../event/adk-request.ts'
import { FormedRow } from '../../event/formed-row.ts'
import type { Problem } from '../../event/problem.ts'
import type { ArtifactSaved, InputMessage, Outcome, RawRecorded, Recorded } from '../../event/run-event.ts'
import { noFacts, type SessionFacts } from '../../event/session-facts.ts'
import { applyState } from '../../event/state-fold.ts'
import { isPartial } from '../../event/streaming.ts'
import type { Frame } from '../../frame/frame.ts'
import { changedKeys } from '../../json/changed-keys.ts'
import type { JsonObject } from '../../json/json.ts'
import type { Encoder } from '../dialect.ts'
import { nodeName } from '../node-name.ts'
import { FormedPrinter, printRawPartial } from './raw-partial.ts'
import { TokenPrinter } from './token-printer.ts'
import { printEvent, printForeignComment, problemOfEvent, remarkFinished, remarkStarted } from './wire.ts'

export class AdkEncoder implements Encoder {
  readonly #echo: boolean
  readonly #tokens = new TokenPrinter()
  readonly #formed = new FormedPrinter()
  #agent = ''
  /** The frame that opened the current run; undefined between runs. */
  #started: Frame | undefined
  #state: JsonObject
  /** The problem in the last event, if that was an error event. */
  #lastError: Problem | undefined
  /** The ids of long-running calls that this run has printed. */
  #calls = new Set<string>()
  /** The last version printed of each artifact, by its name. */
  readonly #versions: Map<string, number>
  /** Saved artifacts that no event has announced yet. */
  #saved: readonly { readonly row: Recorded; readonly event: ArtifactSaved }[] = []

  constructor(echo: boolean, { state, artifacts }: SessionFacts = noFacts) {
    this.#echo = echo
    this.#state = state
    this.#versions = new Map(artifacts)
  }

  prelude(): readonly Frame[] {
    return this.#started === undefined ? [] : [this.#started]
  }

  push(row: Recorded): readonly Frame[] {
    const { at, run, event } = row
    const before = this.#state
    this.#state = applyState(before, event)
    switch (event.kind) {
      case 'run.started':
        this.#agent = event.agent
        this.#lastError = undefined
        this.#calls = new Set()
        this.#started = remarkStarted(run, event.agent)
        return [this.#started, ...(this.#echo ? userEvents(row, event.input.messages) : [])]
      case 'agent': {
        const token = this.#tokens.print(event.event, at)
        if (token !== undefined) {
          this.#lastError = undefined
          return [token]
        }
        const unannounced = event.event.partial === true ? [] : this.#unannounced(event.node, event.event)
        this.#note(event.event)
        return [...unannounced, printEvent(event.event, at)]
      }
      case 'state': {
        const stateDelta = assignedKeys(before, this.#state)
        return stateDelta === undefined ? [] : this.#made(row, event.node, { actions: { stateDelta } })
      }
      case 'artifact':
        if (event.deleted === true || this.#versions.get(event.name) === event.version) return []
        this.#versions.set(event.name, event.version)
        this.#saved = [...this.#saved, { row, event }]
        return []
      case 'node.finished':
        return this.#unannounced(event.node)
      case 'interrupt': {
        if (this.#calls.has(event.id) || this.#calls.has(event.call ?? event.id)) return []
        this.#calls.add(event.id)
        const content = { role: 'model', parts: [{ functionCall: requestOf(event) }] }
        return this.#made(row, event.node, { content, longRunningToolIds: [event.id] })
      }
      case 'foreign':
        return event.dialect === 'adk' ? [printForeignComment(event)] : []
      case 'run.finished':
        return [...this.#unannounced(undefined), ...this.#finished(event.outcome, event.error)]
      default:
        return []
    }
  }

  pushRaw(row: RawRecorded): readonly Frame[] | undefined {
    if (row.kind !== 'partial') return undefined
    const data = FormedRow.isFormed(row) ? this.#formed.print(row.form(), row.own()) : printRawPartial(row.body)
    if (data === undefined) return undefined
    this.#lastError = undefined
    return [{ data }]
  }

  #note(event: AdkEvent): void {
    this.#lastError = problemOfEvent(event)
    for (const id of event.longRunningToolIds ?? []) this.#calls.add(id)
    // As everywhere, what a partial says is provisional: it may be pruned.
    if (isPartial(event)) return
    for (const [name, version] of Object.entries(event.actions?.artifactDelta ?? {})) this.#versions.set(name, version)
  }

  /**
   * ADK announces an artifact in the next whole event of the agent that saved it, so a saved artifact waits for that
   * event. What it does not announce is announced by an event of its own, before it; at the end of the run, everything.
   */
  #unannounced(node: string | undefined, next?: AdkEvent): readonly Frame[] {
    if (this.#saved.length === 0) return []
    const due = this.#saved.filter(({ event }) => event.node === undefined || node === undefined || event.node === node)
    this.#saved = this.#saved.filter((saved) => !due.includes(saved))
    return due.flatMap(({ row, event: { name, version, node: owner } }) =>
      next?.actions?.artifactDelta?.[name] === version
        ? []
        : this.#made(row, owner, { actions: { artifactDelta: { [name]: version } } }),
    )
  }

  /** A new ADK event, for a fact that no ADK event of the log carries. */
  #made({ seq, at, run }: Recorded, node: string | undefined, fields: Partial<AdkEvent>): Frame[] {
    const author = run === '' ? 'user' : node === undefined ? this.#agent : nodeName(node)
    return [printEvent({ id: `millrace-${seq}`, author, invocationId: run, timestamp: at, ...fields }, at)]
  }

  #finished(outcome: Outcome, error: Problem | undefined): Frame[] {
    this.#started = undefined
    const end = remarkFinished(outcome, error?.code)
    if (outcome !== 'failed') return [end]
    const message = error?.message ?? 'failed'
    return this.#lastError?.message === message ? [end] : [{ data: JSON.stringify({ error: message }) }, end]
  }
}

function userEvents({ run, at }: Recorded, messages: readonly InputMessage[]): Frame[] {
  return messages.flatMap(({ id, role, content }) =>
    role === 'user' ? printEvent({ id, author: 'user', invocationId: run, timestamp: at, content }, at) : [],
  )
}

/** The top-level keys that were set; undefined when there are none. */
function assignedKeys(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const entries = changedKeys(before, after).flatMap((key) => (Object.hasOwn(after, key) ? [[key, after[key]]] : []))
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
