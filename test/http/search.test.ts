import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FoundPage } from '@millrace/core'
import { createClient } from '@millrace/react'
import { sqliteLog } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-search-'))
const tokens = new Map([
  ['a-token-of-ann', 'ann'],
  ['a-token-of-bob', 'bob'],
])

const echo = scriptedAgent('echo', function* (input) {
  yield { kind: 'state', patch: [{ op: 'add', path: '/heard_words', value: 1 }] }
  yield* speech('echo', `You said ${textOf(input)}`)
})

describe('GET /search on SQLite', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  const ask = async (user: string, query: string): Promise<{ status: number; body: FoundPage; text: string }> => {
    const answer = await fetch(`${address}/search?${query}`, {
      headers: { authorization: `Bearer a-token-of-${user}` },
    })
    const text = await answer.text()
    return { status: answer.status, body: JSON.parse(text) as FoundPage, text }
  }
  const say = async (user: string, session: string, text: string): Promise<void> => {
    const headers = { authorization: `Bearer a-token-of-${user}`, 'content-type': 'application/json' }
    const content = { role: 'user', parts: [{ text }] }
    const body = JSON.stringify({ agent: 'echo', input: { messages: [{ id: text, role: 'user', content }] } })
    await fetch(`${address}/sessions/${session}/runs`, { method: 'POST', headers, body })
    await (await fetch(`${address}/sessions/${session}/events?until=idle`, { headers })).text()
  }

  beforeAll(async () => {
    const log = await sqliteLog({ folder, now: Date.now, owned: true })
    server = await testServer({ log, with: [echo], fallback: 'echo', access: { tokens } })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    await say('ann', 'trip', 'the harbour of Lisbon')
    await say('ann', 'work', 'the budget of Lisbon')
    await say('bob', 'trip', 'the harbour is a secret of Lisbon')
  })
  afterAll(async () => {
    await server.close(0)
    await server.log.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('finds the caller’s rows under the ids that the caller gave', async () => {
    const { status, body } = await ask('ann', 'q=harb&order=newest')
    expect(status).toBe(200)
    expect(body.found.map(({ session, kind, author }) => [session, kind, author])).toEqual([
      ['trip', 'message', 'echo'],
      ['trip', 'message', 'user'],
    ])
    expect(body.sessions.map(({ id, user, status }) => [id, user, status])).toEqual([['trip', 'ann', 'done']])
    expect(body.found[1]?.snippet).toEqual({ text: 'the harbour of Lisbon', marks: [[4, 8]] })
    expect((await ask('ann', 'q=heard&kind=state')).body.found.length).toBe(2)
  })

  test('SPEC 6.2: another user’s words leave no trace in the answer', async () => {
    const secret = await ask('ann', 'q=secret')
    expect(secret.text).toBe('{"found":[],"sessions":[]}')
    expect((await ask('ann', 'q=lisbon&limit=100')).text).not.toContain('secret')
    expect((await ask('bob', 'q=secret')).body.found.length).toBe(2)
    expect((await fetch(`${address}/search?q=secret`)).status).toBe(401)
  })

  test('pages follow each other by the cursor, and the client of React has the same answers', async () => {
    const headers = { authorization: 'Bearer a-token-of-ann' }
    const client = createClient({ baseUrl: address, headers })
    const all = await client.search({ text: 'lisbon', order: 'newest' })
    const seen = []
    let cursor: string | undefined
    do {
      const page: FoundPage = await client.search({
        text: 'lisbon',
        order: 'newest',
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      })
      seen.push(...page.found)
      cursor = page.next
    } while (cursor !== undefined)
    expect(all.found.length).toBe(4)
    expect(seen).toEqual(all.found)
    // Half of a pair of code units, as a text field has it for a moment, is no error.
    expect((await client.search({ text: 'lisbon \ud83d' })).found.length).toBe(4)
  })

  test('filters by time, and refuses what it cannot read with the field that is wrong', async () => {
    const count = async (query: string) => (await ask('ann', `q=lisbon&${query}`)).body.found.length
    expect(await count('from=2020-01-01')).toBe(4)
    expect(await count('to=2020-01-01T00:00:00Z')).toBe(0)
    expect(await count(`from=${Date.now() + 60_000}`)).toBe(0)
    expect(await count('status=failed')).toBe(0)
    expect(await count('agent=echo')).toBe(4)
    for (const [query, status] of [
      ['', 422],
      [`q=${'x'.repeat(401)}`, 422],
      ['q=a&kind=other', 422],
      ['q=a&limit=101', 422],
      ['q=a&from=yesterday', 400],
      ['q=a&cursor=1', 400],
    ] as const) {
      const answer = await ask('ann', query)
      expect([query.slice(0, 20), answer.status]).toEqual([query.slice(0, 20), status])
      expect(answer.text).toContain('detail')
    }
  })
})
