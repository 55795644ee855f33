import type { JsonObject, Recorded, RunEvent, RunInput } from '@millrace/core'
import { applyState } from '@millrace/core'
import { discoverAgents, type ModelSettings } from '@millrace/server'
import { exampleAgents } from './built-packages.ts'

export interface AgentRunOptions {
  /** Goes on with the run that was cut short. */
  readonly resumed?: boolean
  /** Cuts the run short here, as a crash would: it has no end. */
  readonly until?: (event: RunEvent, seen: readonly RunEvent[]) => boolean
}

/** For tests of the examples: a session in memory, run after run, without pauses, and offline unless a model is given. */
export function testSession(name: string, models: ModelSettings = {}) {
  const catalog = discoverAgents(exampleAgents, { models: { tokensPerSecond: 0, ...models } })
  const agent = catalog.agents.get(name)
  if (agent === undefined) throw new Error(`no agent ${name}`)
  const history: Recorded[] = []
  let ids = 0
  const take = (run: string, event: RunEvent): void => {
    history.push({ seq: history.length + 1, at: Date.now(), run, event })
  }
  return {
    history,
    state: (): JsonObject => history.reduce<JsonObject>((state, { event }) => applyState(state, event), {}),
    async run(
      input: string | Partial<RunInput>,
      { resumed = false, until = () => false }: AgentRunOptions = {},
    ): Promise<readonly RunEvent[]> {
      const run = resumed ? (history.at(-1)?.run ?? '') : `run${++ids}`
      const text = typeof input === 'string' ? input : ''
      const message = { id: `m${ids}`, role: 'user' as const, content: { role: 'user', parts: [{ text }] } }
      const whole: RunInput = typeof input === 'string' ? { messages: [message] } : { messages: [], ...input }
      const before = [...history]
      if (!resumed) take(run, { kind: 'run.started', agent: name, input: whole })
      for (const answer of whole.resume ?? []) take(run, { kind: 'resumed', ...answer })
      const context = {
        session: 's',
        run,
        user: 'user',
        history: before,
        state: before.reduce<JsonObject>((state, { event }) => applyState(state, event), {}),
        resumed,
        signal: new AbortController().signal,
        now: Date.now,
        newId: () => `id${++ids}`,
        rowsAfter: async (seq: number) => history.filter((row) => row.seq > seq),
      }
      const events: RunEvent[] = []
      for await (const event of agent.run(whole, context)) {
        events.push(event)
        take(run, event)
        if (until(event, events)) return events
      }
      // The run engine ends every run; here that is ours to do.
      if (events.at(-1)?.kind !== 'run.finished') take(run, { kind: 'run.finished', outcome: 'done' })
      return events
    },
  }
}

/** The final text of each message. */
export function said(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.kind !== 'agent' || event.event.partial === true) return []
    const text = (event.event.content?.parts ?? []).map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
    return text === '' ? [] : [text]
  })
}
