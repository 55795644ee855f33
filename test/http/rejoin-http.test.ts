import type { RunEvent } from '@millrace/core'
import { sseReader } from '@millrace/core'
import { sessionKey, withOwnId } from '@millrace/core/store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { gate } from '../kit/waiting.ts'

/** Says a word, waits to be let on, then says the rest. */
let { open, opened } = gate()
const halting = scriptedAgent('halting', async function* (): AsyncGenerator<RunEvent> {
  yield { kind: 'log', level: 'info', message: 'waiting' }
  await opened
  yield* speech('halting', 'one two three')
})
const other = scriptedAgent('other', () => speech('other', 'hello'))

describe('a GET that starts a run, asked again', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeEach(async () => {
    ;({ open, opened } = gate())
    const access = {
      tokens: new Map([
        ['adas-token', 'ada'],
        ['bobs-token', 'bob'],
      ]),
    }
    server = await testServer({
      with: [halting, other],
      fallback: 'other',
      access,
      limits: { shares: { starts: { user: 6 } } },
    })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterEach(() => server.close(0))

  const stream = '/api/projects/halting/stream?input=hi'
  const ask = (path: string, cursor?: string, more: { signal?: AbortSignal; token?: string } = {}) =>
    fetch(`${address}${path}`, {
      headers: {
        authorization: `Bearer ${more.token ?? 'adas-token'}`,
        ...(cursor === undefined ? {} : { 'last-event-id': cursor }),
      },
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    })
  /** Reads until the text holds `word`, then leaves. */
  const cutAt = async (word: string, path = stream, cursor?: string): Promise<string> => {
    const leave = new AbortController()
    const answer = await ask(path, cursor, { signal: leave.signal })
    expect(answer.status).toBe(200)
    const reader = answer.body?.getReader()
    let text = ''
    while (!text.includes(word)) text += new TextDecoder().decode((await reader?.read())?.value)
    leave.abort()
    return text
  }
  const idsIn = (text: string): readonly string[] => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '')
  const sessions = async () => (await server.log.list({})).sessions.map(withOwnId)
  const runs = async (): Promise<number> => (await sessions()).reduce((sum, session) => sum + session.runs, 0)

  test('SPEC 2.4: its ids name the run, and the first comes before anything is said', async () => {
    const text = await cutAt('waiting')
    const [{ lastRun = '' } = {}] = await sessions()
    expect(text).toMatch(/^retry: \d+\n\nid: [^\n]+:0\n\n/)
    for (const id of idsIn(text)) expect(id.slice(0, id.lastIndexOf(':'))).toBe(lastRun)
    // The id without data sets the cursor of a reader, and is no frame of its own.
    const reader = sseReader()
    expect(reader.feed(text.slice(0, text.indexOf(':0\n\n') + 4))).toEqual([])
    expect(reader.lastId).toBe(`${lastRun}:0`)
  })

  test.each([
    ['in a session of its own', stream],
    ['in a session that the URL names', `${stream}&session_id=mine`],
  ])('SPEC 2.5: %s it is re-joined after its id, and 204 ends it', async (_name, path) => {
    const before = await cutAt('waiting', path)
    for (let i = 0; i < 5; i += 1) await cutAt('retry', path, idsIn(before).at(-1))
    open()
    const after = await (await ask(path, idsIn(before).at(-1))).text()
    expect(after).toMatch(/event: end\n/)
    const whole = await (await ask(path, idsIn(before)[0])).text()
    const said = (text: string): string => text.replace(/^retry: \d+\n\nid: .*\n\n/, '')
    expect(said(before) + said(after)).toBe(said(whole))
    for (const last of [idsIn(after).at(-1) ?? '', `${idsIn(after)[0]?.split(':')[0]}:4000`])
      expect((await ask(path, last)).status).toBe(204)
    expect(await runs()).toBe(1)
  })

  test('with ?after= in the place of the header', async () => {
    const ids = idsIn(await cutAt('waiting'))
    open()
    expect(await (await ask(`${stream}&after=${ids.at(-1)}`)).text()).toContain('event: end')
    expect(await runs()).toBe(1)
  })

  test('a bare seq re-joins the latest run of the session in the URL', async () => {
    const path = `${stream}&session_id=mine`
    await cutAt('waiting', path)
    open()
    expect(await (await ask(path, '1')).text()).toContain('event: end')
    expect(await runs()).toBe(1)
  })

  test.each([
    ['an unknown run', stream, 'nope:3'],
    ['an unknown run in a known session', `${stream}&session_id=mine`, 'nope:3'],
    ['an unknown session', `${stream}&session_id=nope`, 'nope:3'],
    ['a bare seq without a session', stream, '3'],
  ])('%s: 204, and nothing starts', async (_name, path, cursor) => {
    await cutAt('waiting', `${stream}&session_id=mine`)
    expect((await ask(path, cursor)).status).toBe(204)
    expect(await runs()).toBe(1)
  })

  test("another user's run, another project's, and a deleted one look unknown", async () => {
    const id = idsIn(await cutAt('waiting')).at(-1) ?? ''
    expect((await ask(stream, id, { token: 'bobs-token' })).status).toBe(204)
    expect((await ask('/api/projects/other/stream?input=hi', id)).status).toBe(204)
    const [{ id: session = '' } = {}] = await sessions()
    const headers = { authorization: 'Bearer adas-token' }
    expect((await fetch(`${address}/sessions/${session}`, { method: 'DELETE', headers })).status).toBe(204)
    expect((await ask(stream, id)).status).toBe(204)
    expect(await runs()).toBe(0)
  })

  test('what is no cursor is refused, and starts nothing', async () => {
    for (const bad of ['x', 'r:', ':', 'r:x', '1:-1', ':3']) expect((await ask(stream, bad)).status, bad).toBe(400)
    expect(await runs()).toBe(0)
  })

  test('both forms of a cursor are taken where a session is joined', async () => {
    const id = idsIn(await cutAt('waiting')).at(-1) ?? ''
    open()
    const [{ id: session = '', lastRun = '' } = {}] = await sessions()
    await server.engine.wait(sessionKey('ada', session), lastRun)
    const events = `/sessions/${session}/events?dialect=studio&run=${lastRun}`
    const seq = id.slice(id.lastIndexOf(':') + 1)
    expect(id).toBe(`${lastRun}:${seq}`)
    const bare = await (await ask(events, seq)).text()
    expect(bare).toContain('event: end')
    expect(await (await ask(events, id)).text()).toBe(bare)
    expect(await (await ask(`${events}&after=${encodeURIComponent(id)}`)).text()).toBe(bare)
  })

  test('a run that its URL names is re-joined even where no id came', async () => {
    const path = `${stream}&run=mine`
    await cutAt('waiting', path)
    await cutAt('waiting', path)
    await Promise.all([cutAt('waiting', path), cutAt('waiting', path)])
    open()
    expect(await (await ask(path)).text()).toContain('event: end')
    expect(await runs()).toBe(1)
    expect((await ask(`${stream}&run=a%0Ab`)).status).toBe(422)
  })

  test('two requests at once for one named run start it once', async () => {
    open()
    const path = `${stream}&run=mine`
    const texts = await Promise.all([1, 2, 3].map(async () => (await ask(path)).text()))
    for (const text of texts) expect(text).toContain('event: end')
    expect(await runs()).toBe(1)
  })

  test('a POST names no run: a field of that name is ignored', async () => {
    open()
    const headers = { authorization: 'Bearer adas-token', 'content-type': 'application/json' }
    const body = JSON.stringify({ input: 'hi', run: { not: 'a name' } })
    const answer = await fetch(`${address}/api/projects/halting/stream`, { method: 'POST', headers, body })
    expect(await answer.text()).toMatch(/event: end\nid: [\w-]+:\d+\n/)
  })

  test('SPEC 2.5: a POST that is sent again with its last id re-joins the run, and 204 ends it', async () => {
    const post = (last?: string, signal?: AbortSignal) =>
      fetch(`${address}/api/projects/halting/stream`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer adas-token',
          'content-type': 'application/json',
          ...(last === undefined ? {} : { 'last-event-id': last }),
        },
        body: JSON.stringify({ input: 'hi' }),
        ...(signal === undefined ? {} : { signal }),
      })
    const leave = new AbortController()
    const reader = (await post(undefined, leave.signal)).body?.getReader()
    let text = ''
    while (!text.includes('waiting')) text += new TextDecoder().decode((await reader?.read())?.value)
    leave.abort()
    open()
    const after = await (await post(idsIn(text).at(-1))).text()
    expect(after).toContain('event: end')
    expect((await post(idsIn(after).at(-1))).status).toBe(204)
    expect(await runs()).toBe(1)
  })
})
