import type { JsonObject, PatchOp, Recorded, RunEvent, RunInput } from '@millrace/core'
import { applyState, defined, isCallRecord } from '@millrace/core'
import type { Agent, RunContext } from '@millrace/server'
import { isCheckpoint } from '../../packages/server/src/agent/langgraph/checkpoint.ts'

/** A session in memory, as the run engine would hold it: runs one after the other, each seeing the rows before it. */
export interface TestSession {
  readonly rows: readonly Recorded[]
  readonly state: JsonObject
  /** Runs to the end; gives back the events of this run, without `run.started` and the records of calls. */
  run(input: string | Partial<RunInput>, options?: TestRunOptions): Promise<readonly RunEvent[]>
  /** A person changes the state between two runs. */
  edit(patch: readonly PatchOp[]): void
}

export interface TestRunOptions {
  readonly signal?: AbortSignal
  readonly onEvent?: (event: RunEvent) => void
  readonly resumed?: boolean
  /** The agent's clock; without one, the number of rows. */
  readonly now?: () => number
}

/** `before` are the rows of an earlier session that this one continues. */
export function testSession(agent: Agent, session = 's1', before: readonly Recorded[] = []): TestSession {
  const rows: Recorded[] = [...before]
  let state: JsonObject = before.reduce((sum, { event }) => applyState(sum, event), {})
  let runs = 0
  const record = (run: string, event: RunEvent): void => {
    rows.push({ seq: rows.length + 1, at: 1000 + rows.length, run, event })
    state = applyState(state, event)
  }
  return {
    rows,
    get state() {
      return state
    },
    async run(given, { signal = new AbortController().signal, onEvent, resumed = false, now } = {}) {
      const input = inputOf(given)
      runs += 1
      const run = `r${before.length === 0 ? '' : `${before.length}-`}${runs}`
      const history = [...rows]
      record(run, { kind: 'run.started', agent: agent.name, input })
      let ids = 0
      const context: RunContext = {
        session,
        run,
        user: 'u1',
        history,
        state,
        ...defined({ sealed: newestRecord(history) }),
        resumed,
        signal,
        now: now ?? (() => 1000 + rows.length),
        newId: () => `id${++ids}`,
      }
      const events: RunEvent[] = []
      for await (const event of agent.run(input, context)) {
        record(run, event)
        if (!isCallRecord(event)) events.push(event)
        onEvent?.(event)
      }
      return events
    },
    edit: (patch) => record('', { kind: 'state', patch }),
  }
}

/** As the run engine finds it: here every row was written by the session itself. */
export function newestRecord(history: readonly Recorded[]): number | undefined {
  return history.findLast(({ event }) => event.kind === 'log' && event.message === 'langgraph.checkpoint')?.seq
}

export function inputOf(given: string | Partial<RunInput>): RunInput {
  if (typeof given !== 'string') return { messages: [], ...given }
  return { messages: [{ id: 'm', role: 'user', content: { role: 'user', parts: [{ text: given }] } }] }
}

/** One line per event: which agent did what, in which order. Records of calls and checkpoints are left out. */
export function outline(all: readonly RunEvent[]): readonly string[] {
  const events = all.filter((event) => !isCallRecord(event) && !isCheckpoint(event))
  return events.map((event) => {
    switch (event.kind) {
      case 'node.started':
        return `> ${event.node}`
      case 'node.finished':
        return `< ${event.node}${event.status === 'ok' ? '' : ' error'}`
      case 'agent': {
        const { author, partial, content, errorCode } = event.event
        const parts = (content?.parts ?? []).map(({ text, thought, functionCall, functionResponse }) => {
          if (functionCall !== undefined) return `call ${functionCall.name}`
          if (functionResponse !== undefined) return `answer ${functionResponse.name}`
          return `${thought ? 'thought ' : ''}“${text}”`
        })
        return [author, partial ? '…' : '', errorCode === undefined ? '' : `!${errorCode}`, ...parts]
          .filter(Boolean)
          .join(' ')
      }
      case 'run.finished':
        return event.error === undefined
          ? event.outcome
          : `${event.outcome} (${event.error.code}: ${event.error.message})`
      case 'interrupt':
        return `interrupt ${event.reason}`
      case 'resumed':
        return `resumed ${event.status}`
      case 'artifact':
        return `artifact ${event.name} v${event.version}`
      default:
        return event.kind
    }
  })
}

/** The ADK events of a run. */
export function said(events: readonly RunEvent[]): readonly Extract<RunEvent, { kind: 'agent' }>[] {
  return events.filter((event): event is Extract<RunEvent, { kind: 'agent' }> => event.kind === 'agent')
}
