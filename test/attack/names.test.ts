import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sourceKey } from '../../packages/core/src/view/proof/cited.ts'
import { jsonIn } from '../../packages/server/src/agent/adk/json-answer.ts'
import { authorPlace } from '../../packages/server/src/agent/author-place.ts'
import { errorText } from '../../packages/server/src/agent/langgraph/error-text.ts'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

/** Models and users choose names and words. */
const half = '\uD800'
const agent = scriptedAgent('namer', function* () {
  const part = { text: 'content' }
  yield { kind: 'artifact', id: 'plain', name: `${half}name`, type: 'note', version: 1, part }
  yield { kind: 'artifact', id: `${half}id`, name: 'a\r\nset-cookie: x=1\0"\\', type: 'note', version: 1, part }
  yield {
    kind: 'artifact',
    id: 'bytes',
    name: half,
    type: half,
    version: 1,
    part: { inlineData: { data: 'AAEC', mimeType: half } },
  }
  yield { kind: 'data', id: `${half}d`, operation: 'create', itemType: half, item: { name: half } }
  yield { kind: 'tasks', tasks: [{ id: `${half}t`, title: half, status: 'pending', order: 0 }] }
  yield* speech('namer', `${half} said`)
})

describe('names with half a surrogate pair', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  const get = (url: string) => server.app.inject({ url, headers: { host: 'localhost' } })
  beforeAll(async () => {
    server = await testServer({ with: [agent], fallback: 'namer' })
    await server.log.create({ id: 's', user: 'user', agent: 'namer' })
    const { run } = await server.engine.start({ session: 's', user: 'user', agent: 'namer', input: { messages: [] } })
    expect(await server.engine.wait('s', run)).toBe('done')
  })
  afterAll(() => server.close(0))
  const replaced = encodeURIComponent('\uFFFD')

  test.each([
    ['plain', `attachment; filename="_name.md"; filename*=UTF-8''${replaced}name.md`],
    [
      `${replaced}id`,
      `attachment; filename="a__set-cookie: x=1___.md"; filename*=UTF-8''${encodeURIComponent('a\r\nset-cookie: x=1\0"\\.md')}`,
    ],
    ['bytes', `attachment; filename="_"; filename*=UTF-8''${replaced}`],
  ])('the artifact %s downloads', async (id, disposition) => {
    const answer = await get(`/sessions/s/artifacts/${id}/download`)
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.headers['content-disposition']).toBe(disposition)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test.each([
    '/sessions/s/artifacts',
    `/sessions/s/artifacts/${replaced}id`,
    `/sessions/s/data-items/${replaced}d`,
    `/sessions/s/tasks/${replaced}t`,
    '/sessions/s/tasks',
    '/sessions/s/log',
    '/sessions/s/views/plan',
    '/sessions/s/views/transcript',
    '/apps/namer/users/user/sessions/s/artifacts',
    ...['adk', 'ag-ui', 'studio', 'plan', 'millrace'].map((wire) => `/sessions/s/events?dialect=${wire}&until=idle`),
  ])('%s answers', async (url) => {
    const answer = await get(url)
    expect(answer.statusCode, answer.body).toBe(200)
  })
})

describe('the time for words grows with their length, not with its square', () => {
  const lines = (size: number): string => '\n\n'.repeat(size / 2)
  const cases: readonly [string, (size: number) => unknown][] = [
    ['the name of a source', (size) => sourceKey(`a${'"'.repeat(size)}b`)],
    ['the place of an error', (size) => authorPlace(new Error('/'.repeat(size)))],
    ['JSON in a code fence', (size) => jsonIn(`\`\`\`json\n${lines(size)}x`)],
    ['the error of a tool', (size) => errorText(lines(size))],
  ]
  test.each(cases)('%s', (_name, read) => {
    const cost = (size: number): number => {
      let best = Number.POSITIVE_INFINITY
      for (let i = 0; i < 5; i++) {
        const before = process.cpuUsage()
        read(size)
        const { user, system } = process.cpuUsage(before)
        best = Math.min(best, user + system)
      }
      return best
    }
    // Sixteen times the text would cost 256 times the work. What is too quick to measure counts as a millisecond.
    expect(cost(160_000)).toBeLessThan(64 * Math.max(1000, cost(10_000)))
  })

  test('and they are read as before', () => {
    expect(jsonIn(' ```json \n {"a": [1]} \n ``` ')).toEqual({ a: [1] })
    expect(jsonIn('```\n{"a":1}\n```')).toEqual({ a: 1 })
    expect(jsonIn('{"a":1}')).toEqual({ a: 1 })
    for (const text of ['[1]', '```json\n{"a":1}', '```ts\n{"a":1}\n```', 'words', '', '```'])
      expect(jsonIn(text)).toBeUndefined()
    expect(errorText('no\n\nError: no\n    at f (/x.ts:1:2)')).toBe('no')
    expect(errorText('first\n\nsecond')).toBe('first\n\nsecond')
    expect(errorText(undefined)).toBe('the tool failed')
    expect(sourceKey(' “The  Name.” ')).toBe('the name')
  })
})
