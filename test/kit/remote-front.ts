import { type Host, type Recorded, type RunFinished, type RunInput, webHost } from '@millrace/core'
import { type Agent, type MillraceOptions, remoteAgent } from '@millrace/server'
import { inputOf } from './run-agent.ts'
import { testServer } from './server.ts'

type Entry = Parameters<typeof remoteAgent>[1]

/** The longest pause between attempts, in ms. */
const longestWait = 15_000

/**
 * The real host, but the pauses between attempts to re-join take a fiftieth: what is tested is that there are some. What is
 * longer than any of them is the time that a slow server gets, and a busy machine needs all of it.
 */
const hurried: Host = {
  ...webHost(globalThis),
  after(ms, callback) {
    const timer = setTimeout(callback, ms > 100 && ms <= longestWait ? ms / 50 : ms)
    return () => clearTimeout(timer)
  },
}

/** A host on which the time for being silent is over when the test says so, and not before. */
export function patientHost(silence: number): { readonly host: Host; readonly elapse: () => void } {
  const armed = new Set<() => void>()
  let over = false
  return {
    host: {
      ...hurried,
      after(ms, callback) {
        if (ms !== silence) return hurried.after(ms, callback)
        armed.add(callback)
        if (over) setImmediate(() => armed.has(callback) && callback())
        return () => void armed.delete(callback)
      },
    },
    elapse() {
      over = true
      for (const callback of armed) callback()
    },
  }
}

export interface Front {
  /** Runs to its end; the rows of this run. */
  run(session: string, input: string | Partial<RunInput>): Promise<readonly Recorded[]>
  start(session: string, input: string | Partial<RunInput>): Promise<string>
  cancel(session: string, run: string): Promise<void>
  wait(session: string, run: string): Promise<readonly Recorded[]>
  /** Resolves once the session has something that an agent said: the other server has answered by then. */
  heard(session: string): Promise<void>
  get(path: string): Promise<unknown>
  close(): Promise<void>
}

/** A whole Millrace in front of one server elsewhere, under the name `far`. */
export async function frontOf(
  entry: Entry,
  host: Host = hurried,
  options: Partial<MillraceOptions> = {},
): Promise<Front> {
  return frontWith([remoteAgent('far', entry, host)], options)
}

export async function frontWith(agents: readonly Agent[], options: Partial<MillraceOptions> = {}): Promise<Front> {
  const server = await testServer({ with: agents, ...options })
  const [agent] = agents
  const front: Front = {
    async start(session, input) {
      const answer = await server.app.inject({
        method: 'POST',
        url: `/sessions/${session}/runs`,
        payload: { agent: agent?.name, input: inputOf(input) },
      })
      if (answer.statusCode !== 201) throw new Error(answer.body)
      return answer.json<{ run: string }>().run
    },
    cancel: async (session, run) => void (await server.engine.cancel(session, run)),
    async wait(session, run) {
      await server.engine.wait(session, run)
      return (await server.log.read(session, { after: 0 })).filter((row) => row.run === run)
    },
    async heard(session) {
      for await (const rows of server.log.follow(session, { after: 0, signal: new AbortController().signal }))
        if (rows.some(({ event }) => event.kind === 'agent')) return
    },
    run: async (session, input) => front.wait(session, await front.start(session, input)),
    get: async (path) => (await server.app.inject({ url: path })).json(),
    close: () => server.close(0),
  }
  return front
}

/** How a run ended, as a person reads it. */
export function ending(rows: readonly Recorded[]): string {
  const ends = rows.flatMap(({ event }) => (event.kind === 'run.finished' ? [event] : []))
  if (ends.length !== 1) throw new Error(`the run ended ${ends.length} times`)
  const [{ outcome, error }] = ends as [RunFinished]
  return error === undefined ? outcome : `${outcome} (${error.code}: ${error.message})`
}

/** The whole messages of a run, in order. */
export function spoken(rows: readonly Recorded[]): readonly string[] {
  return rows.flatMap(({ event }) => {
    if (event.kind !== 'agent' || event.event.partial === true) return []
    const text = (event.event.content?.parts ?? []).map((part) => part.text ?? '').join('')
    return text === '' ? [] : [text]
  })
}
