import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { aborted } from '../kit/waiting.ts'

const echo = scriptedAgent('echo', () => speech('echo', 'Hello'))
/** Says something, then waits until it is stopped. */
const patient = scriptedAgent('patient', async function* (_, { signal }) {
  yield { kind: 'log', level: 'info', message: 'waiting' }
  await aborted(signal)
})

describe('the end of a stream', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    const disconnect = { 'ag-ui': 'cancel', adk: 'continue' } as const
    server = await testServer({ with: [echo, patient], fallback: 'patient', disconnect })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => server.close(0))

  const begin = async (id: string, agent: string): Promise<string> => {
    await server.log.create({ id, user: 'user', agent })
    return (await server.engine.start({ session: id, user: 'user', agent, input: { messages: [] } })).run
  }
  const events = (id: string, query: string): Promise<Response> => fetch(`${address}/sessions/${id}/events?${query}`)
  /** Starts a run and leaves as soon as the server has answered. */
  const startAndLeave = async (path: string, body: object): Promise<void> => {
    const leave = new AbortController()
    const headers = { 'content-type': 'application/json' }
    await fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body), signal: leave.signal })
    leave.abort()
    while (server.streams.readers > 0) await new Promise((resolve) => setImmediate(resolve))
  }

  test('SPEC 4.2: the setting of a surface decides for requests that do not say', async () => {
    const messages = [{ id: '1', role: 'user', content: 'hi' }]
    await startAndLeave('/ag-ui/patient', { threadId: 'left', runId: 'r', messages })
    expect(await server.engine.wait('left', 'r')).toBe('cancelled')
    await server.log.create({ id: 'kept', user: 'user', agent: 'patient' })
    const newMessage = { parts: [{ text: 'hi' }] }
    await startAndLeave('/run_sse', { appName: 'patient', userId: 'user', sessionId: 'kept', newMessage })
    expect((await server.log.get('kept'))?.status).toBe('running')
  })

  test('?until=idle: all that the session has, then the end', async () => {
    const run = await begin('done', 'echo')
    await server.engine.wait('done', run)
    expect(await (await events('done', 'until=idle')).text()).toContain('run.finished')
    const { lastSeq = 0 } = (await server.log.get('done')) ?? {}
    expect(await (await events('done', `until=idle&after=${lastSeq}`)).text()).not.toContain('data:')
  })

  test('?until=idle waits for the run that is active, also for a reader that joins live', async () => {
    const run = await begin('busy', 'patient')
    const queries = ['until=idle', 'until=idle&from=live', 'until=idle&from=live&dialect=ag-ui']
    const readers = await Promise.all(queries.map((query) => events('busy', query)))
    expect(await server.engine.cancel('busy', run)).toBe(true)
    for (const reader of readers) expect(await reader.text()).toMatch(/run\.finished|RUN_FINISHED/)
  })

  test('?until=idle: a session without events, and one that does not exist, are idle', async () => {
    await server.log.create({ id: 'empty', user: 'user', agent: 'echo' })
    expect(await (await events('empty', 'until=idle')).text()).not.toContain('data:')
    const unknown = await events('no-such-session', 'until=idle&dialect=ag-ui')
    expect(unknown.status).toBe(200)
    expect(unknown.headers.get('content-type')).toContain('text/event-stream')
    expect(await unknown.text()).toBe(': idle\n\n')
  })
})
