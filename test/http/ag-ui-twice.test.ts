import { memoryLog } from '@millrace/core'
import { afterEach, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { gate } from '../kit/waiting.ts'

const echo = scriptedAgent('echo', () => speech('echo', 'hello'))

let close: (() => Promise<void>) | undefined
afterEach(() => close?.())

/** A server whose first two requests both find the session as it was before either of them changed it. */
async function racing(thread: string) {
  const log = memoryLog(Date.now)
  const { open, opened } = gate()
  let asked = 0
  const server = await testServer({
    log: {
      ...log,
      async get(id) {
        const info = await log.get(id)
        if (id !== thread || asked >= 2) return info
        asked += 1
        if (asked === 2) open()
        await opened
        return info
      },
    },
    with: [echo],
    fallback: 'echo',
  })
  close = () => server.close(0)
  const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  const post = async (runId: string) => {
    const answer = await fetch(`${address}/ag-ui/echo`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ threadId: thread, runId, messages: [{ id: runId, role: 'user', content: 'hi' }] }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  return { log, post }
}

test.each([
  ['a new thread', false],
  ['a known thread', true],
])('the same run, asked for twice at once in %s, runs once and is streamed to both', async (_name, known) => {
  const { log, post } = await racing('t')
  if (known) await log.create({ id: 't', user: 'user', agent: 'echo' })
  const [first, second] = await Promise.all([post('r'), post('r')])
  expect(first.status).toBe(200)
  expect(first.text).toContain('RUN_FINISHED')
  expect(second).toEqual(first)
  expect((await log.get('t'))?.runs).toBe(1)
})

test('two runs that are asked for at once in a new thread both run', async () => {
  const { log, post } = await racing('t')
  const answers = await Promise.all([post('r1'), post('r2')])
  for (const { status, text } of answers) {
    expect(status).toBe(200)
    expect(text).toContain('RUN_FINISHED')
  }
  expect((await log.get('t'))?.runs).toBe(2)
})
