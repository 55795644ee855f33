import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialects } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { built, oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { heard, StreamText } from '../kit/stream-text.ts'

// The packed server is killed while the example agents speak as fast as they can: many tokens are then one row of the
// file, and ADK does not see them. `crash.slow.test.ts` does the same with agents of its own, more often.

const rounds = full ? 20 : 2
const words = {
  assistant: ['Count slowly to 200', 'Hello', 'What is the weather in Lisbon?', 'Add a proverb: Still waters run deep'],
  planner: ['Plan a trip to Rome'],
  research: ['Why is the sky blue?'],
}
const folder = mkdtempSync(join(tmpdir(), 'millrace-killed-streams-'))
let served: Served | undefined
beforeAll(() => built())
afterAll(async () => {
  await served?.kill()
  rmSync(folder, { recursive: true })
})

async function serve(): Promise<string> {
  const args = ['serve', '--port', '0', '--data-dir', join(folder, 'data'), '--agents', exampleAgents, ...oneProcess]
  served = await serveBuilt([...args, '--limit', 'starts=1000000', '--log-level', 'error'], {
    MILLRACE_MODEL: 'offline',
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0',
  })
  return served.address
}

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** One run after the other, until the server is gone. */
async function talk(address: string, session: string, agent: string, texts: readonly string[]): Promise<void> {
  for (let i = 0; ; i += 1) {
    const content = { parts: [{ text: texts[i % texts.length] }] }
    const input = { messages: [{ id: `m${i}`, role: 'user', content }] }
    const started = await post(`${address}/sessions/${session}/runs`, { agent, input })
    expect(started.status).toBe(201)
    const { run } = await started.json()
    await (await fetch(`${address}/sessions/${session}/events?dialect=millrace&run=${run}`)).text()
  }
}

test('SPEC 2.3, 2.5: what a client of any dialect saw before a SIGKILL is what it is sent again', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const first = await serve()
    const clients: { readonly path: string; readonly received: StreamText }[] = []
    const talks: Promise<void>[] = []
    for (const [agent, texts] of Object.entries(words)) {
      for (const number of [1, 2]) {
        const session = `${agent}-${round}-${number}`
        expect((await post(`${first}/sessions`, { id: session, agent })).status).toBe(201)
        for (const dialect of Object.keys(dialects)) {
          const path = `/sessions/${session}/events?dialect=${dialect}`
          clients.push({ path, received: await StreamText.open(first + path) })
        }
        talks.push(talk(first, session, agent, texts))
      }
    }
    const all = clients.map(({ received }) => received)
    // A talk ends only by an error, which before the kill is one of the server's.
    await Promise.race([heard(all, 20_000 + Math.random() * 300_000), Promise.all(talks)])
    await served?.kill()
    await Promise.allSettled(talks)
    const second = await serve()
    for (const { path, received } of clients) {
      const again = await (await fetch(`${second}${path}&until=idle`)).text()
      expect(received.partsFrom(again), path).toBe(undefined)
    }
    await served?.kill()
  }
})
