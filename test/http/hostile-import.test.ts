import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiAgents } from '../kit/api-samples.ts'
import { testServer } from '../kit/server.ts'

/** What a file or an answer may not smuggle in: it is refused whole, and leaves nothing behind that fails later. */
const header = { agent: 'echo', title: 'A file' }
const started = { kind: 'run.started', agent: 'echo', input: { messages: [] } }
const finished = { kind: 'run.finished', outcome: 'done' }

function exported(session: object, last: { readonly seq?: number; readonly at?: number } = {}): string {
  return [
    { format: 'millrace.session', version: 1, session },
    { seq: 1, at: 1, run: 'r', event: started },
    { seq: 2, at: 1, run: 'r', event: finished, ...last },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')
}

describe('a hostile import', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  beforeAll(async () => {
    server = await testServer({ with: apiAgents, fallback: 'echo' })
  })
  afterAll(() => server.close(0))
  const post = (url: string, payload: string | object) =>
    server.app.inject({
      method: 'POST',
      url,
      payload,
      headers: { host: 'localhost', 'content-type': typeof payload === 'string' ? 'text/plain' : 'application/json' },
    })

  test.each([
    ['a time that no calendar has', exported(header, { at: 1e300 })],
    ['the last seq there is', exported(header, { seq: Number.MAX_SAFE_INTEGER })],
    ['a title that fills every list', exported({ ...header, title: 'x'.repeat(1_000_000) })],
    ['an agent of a megabyte', exported({ ...header, agent: 'x'.repeat(1_000_000) })],
    ['a fork of a place that is none', exported({ ...header, forkOf: { session: 'any', seq: -1e300 } })],
  ])('%s', async (_name, file) => {
    expect((await post('/sessions/import?id=bad&dialect=millrace', file)).statusCode).toBe(422)
    expect(await server.log.get('bad')).toBe(undefined)
  })

  test('a good file is still taken', async () => {
    expect((await post('/sessions/import?id=good&dialect=millrace', exported(header))).statusCode).toBe(201)
  })

  test('an ADK session with a time that no calendar has', async () => {
    const event = { id: 'e', author: 'echo', timestamp: 1e300, content: { role: 'model', parts: [{ text: 'hi' }] } }
    const answer = await post('/apps/echo/users/user/sessions', { sessionId: 'bad', events: [event] })
    expect(answer.statusCode).toBe(422)
    expect(await server.log.get('bad')).toBe(undefined)
  })

  test.each([1, 100_000])('an ADK session that is not UTF-8, after %i characters', async (length) => {
    const payload = Buffer.concat([
      Buffer.from(`{"state":{"a":"${'x'.repeat(length)}`),
      Buffer.from([0xff]),
      Buffer.from('"}}'),
    ])
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const answer = await server.app.inject({ method: 'POST', url: '/apps/echo/users/user/sessions', headers, payload })
    expect([answer.statusCode, answer.json().detail]).toEqual([400, 'the body is not valid UTF-8'])
  })

  test('an answer that looks like JSON is one only as deep as a body may be', async () => {
    // As ADK Studio's page asks: such a stream ends at the question.
    const stream = '/api/projects/asker/stream?binary_path=x'
    const say = (input: string) => post(stream, { input, session_id: 'asked' })
    expect((await say('Do it')).body).toContain('event: interrupt')
    const deep = '['.repeat(65) + ']'.repeat(65)
    expect((await say(deep)).statusCode).toBe(200)
    const answers = (await server.log.read('asked', { after: 0 })).flatMap(({ event }) =>
      event.kind === 'resumed' ? [event.payload] : [],
    )
    expect(answers).toEqual([deep])
  })
})
