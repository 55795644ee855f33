import { type EventLog, memoryLog } from '@millrace/core'
import { afterEach, describe, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

const echo = scriptedAgent('echo', function* (_, { history, state }) {
  yield { kind: 'state', patch: [{ op: 'add', path: '/turns', value: Number(state.turns ?? 0) + 1 }] }
  yield* speech('echo', `${history.length} rows before`, { message: `m${history.length}` })
})
const planner = scriptedAgent('planner', function* () {
  yield { kind: 'tasks', tasks: [{ id: 't1', title: 'Write', status: 'pending', order: 0 }] }
})

/** The log, and how often its rows were read from the first one on. */
function countingLog(): { readonly log: EventLog; readonly reads: { whole: number } } {
  const log = memoryLog(Date.now)
  const reads = { whole: 0 }
  const count = (after: number): void => {
    if (after === 0) reads.whole += 1
  }
  return {
    reads,
    log: {
      ...log,
      read(session, options) {
        count(options.after)
        return log.read(session, options)
      },
      follow(session, options) {
        count(options.after)
        return log.follow(session, options)
      },
    },
  }
}

describe('a request that starts a run reads the session once at most, for its route, the engine and the stream', () => {
  let close: (() => Promise<void>) | undefined
  afterEach(() => close?.())

  async function setup() {
    const { log, reads } = countingLog()
    const server = await testServer({ log, with: [echo, planner], fallback: 'echo' })
    close = () => server.close(0)
    const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    /** The whole answer, and the whole reads that it took. */
    const ask = async (method: string, path: string, body?: unknown) => {
      const before = reads.whole
      const headers = { 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
      const answer = await fetch(`${address}${path}`, { method, ...sent })
      return { text: await answer.text(), status: answer.status, reads: reads.whole - before }
    }
    return { ask, log }
  }
  const agUi = (runId: string) => ({
    threadId: 't',
    runId,
    protocolVersion: '1.0',
    messages: [{ id: `u-${runId}`, role: 'user', content: 'Hello' }],
  })

  test('POST /: none for a new thread, one for every later run and for a run asked for again', async () => {
    const { ask } = await setup()
    const first = await ask('POST', '/', agUi('r1'))
    expect(first).toMatchObject({ status: 200, reads: 0 })
    expect(first.text).toContain('RUN_FINISHED')
    const second = await ask('POST', '/', agUi('r2'))
    expect(second).toMatchObject({ status: 200, reads: 1 })
    // The encoder was warmed with the rows before: its snapshot holds what the first run counted.
    expect(second.text).toContain('"turns":1')
    const again = await ask('POST', '/', agUi('r2'))
    expect(again.reads).toBe(1)
    expect(again.text).toBe(second.text)
  })

  test('/run_sse', async () => {
    const { ask } = await setup()
    await ask('POST', '/apps/echo/users/u/sessions/s', {})
    const body = { appName: 'echo', userId: 'u', sessionId: 's', newMessage: { parts: [{ text: 'Hello' }] } }
    expect(await ask('POST', '/run_sse', body)).toMatchObject({ status: 200, reads: 0 })
    const second = await ask('POST', '/run_sse', { ...body, streaming: true })
    expect(second).toMatchObject({ status: 200, reads: 1 })
    expect(second.text).toMatch(/\d+ rows before/)
  })

  test('Studio', async () => {
    const { ask } = await setup()
    expect(await ask('GET', '/api/projects/echo/stream?input=hi&session_id=s')).toMatchObject({ status: 200, reads: 0 })
    const second = await ask('GET', '/api/projects/echo/stream?input=hi&session_id=s')
    expect(second).toMatchObject({ status: 200, reads: 1 })
    expect(second.text).toContain('event: end')
    // The rows of the run before are still at hand.
    expect(await ask('POST', '/api/projects/echo/stream', { input: 'hi', session_id: 's' })).toMatchObject({ reads: 0 })
  })

  test('plan: chat and execute', async () => {
    const { ask, log } = await setup()
    await log.create({ id: 's', user: 'user', agent: 'planner' })
    expect(await ask('POST', '/sessions/s/chat', { message: 'Plan' })).toMatchObject({ status: 200, reads: 0 })
    expect(await ask('POST', '/sessions/s/chat', { message: 'Plan' })).toMatchObject({ status: 200, reads: 1 })
    const done = await ask('POST', '/sessions/s/execute')
    expect(done).toMatchObject({ status: 200, reads: 1 })
    expect(done.text).toContain('done')
  })

  test('rows that came after the route has read the session are known to the run', async () => {
    const { ask, log } = await setup()
    await ask('POST', '/', agUi('r1'))
    const { acquire } = log
    log.acquire = async (...args) => {
      const patch = [{ op: 'add' as const, path: '/turns', value: 41 }]
      await log.append('t', [{ run: '', event: { kind: 'state', patch } }])
      return acquire(...args)
    }
    const late = await ask('POST', '/', agUi('r2'))
    expect(late.reads).toBe(1)
    expect(late.text).toContain('"value":42')
  })
})
