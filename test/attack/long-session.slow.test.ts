import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { type AttackedServer, attackedServer } from './bounded-work-kit.ts'

// How long the thread that answers everyone works without a break, in processor time, so that a busy machine changes nothing.

const watched = join(tmpdir(), `millrace-long-session-${process.pid}.json`)
let server: AttackedServer
beforeAll(async () => {
  const watch = new URL('./loop-watch.mjs', import.meta.url).href
  server = await attackedServer({ NODE_OPTIONS: `--import ${watch}`, LOOP_WATCH_FILE: watched })
})
afterAll(async () => {
  await server?.close()
  rmSync(watched, { force: true })
})

/** The longest stretch since the last call, in ms. */
async function stretch(): Promise<number> {
  rmSync(watched, { force: true })
  server.child.kill('SIGUSR2')
  await expect.poll(() => existsSync(watched) && readFileSync(watched, 'utf8')).toMatch(/\}$/)
  return JSON.parse(readFileSync(watched, 'utf8')).longest[0]
}

function eventsOf(count: number): readonly object[] {
  const parts = [{ text: 'said' }, ...Array.from({ length: 10 }, () => ({ text: '' }))]
  return Array.from({ length: count }, (_, i) => ({
    id: `e${i}`,
    author: 'assistant',
    invocationId: 'i',
    timestamp: 1,
    content: { role: 'model', parts },
  }))
}

async function created(sessionId: string, events: readonly object[]): Promise<number> {
  const answer = await server.as('ada', '/apps/assistant/users/ada/sessions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sessionId, events }),
  })
  const session = (await answer.json()) as { id: string; events: unknown[] }
  expect([answer.status, session.id, session.events.length]).toEqual([200, sessionId, events.length])
  return stretch()
}

test('SPEC 6.3: a long ADK session is read in a thread: the server never works on it for much longer than on a short one', async () => {
  // Loading the agents at the start keeps the same thread busy.
  await expect.poll(async () => (await server.as('ada', '/agents')).text()).not.toMatch(/loading/)
  const few = eventsOf(100)
  await created('first', few)
  const short = Math.max(await created('short', few), await created('again', few))
  const long = await created('long', eventsOf(full ? 40_000 : 8_000))
  // Read by the thread that answers everyone, it is more than fifty times as long.
  expect(long / (short + 5), `${long} ms, ${short} ms`).toBeLessThan(10)
})
