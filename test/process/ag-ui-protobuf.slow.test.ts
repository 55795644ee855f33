import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { built, oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'

// The official client reads protobuf with this package and brings it along.
const { decode } = createRequire(createRequire(import.meta.url).resolve('@ag-ui/client'))('@ag-ui/proto') as {
  decode(message: Uint8Array): unknown
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-protobuf-'))
let served: Served
beforeAll(async () => {
  await built()
  const args = ['--port', '0', '--data-dir', folder, ...oneProcess]
  served = await serveBuilt(args, { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' })
})
afterAll(async () => {
  await served.kill()
  rmSync(folder, { recursive: true })
})

/** The same run, asked for again, is heard again: so one run can be heard in both encodings. */
async function hear(content: string, accept: string): Promise<Buffer> {
  const answer = await fetch(`${served.address}/ag-ui/assistant`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({
      threadId: content,
      runId: `run of ${content}`,
      messages: [{ id: '1', role: 'user', content }],
    }),
  })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, accept])
  return Buffer.from(await answer.arrayBuffer())
}

/** Each message has its length before it, four bytes with the highest first. */
function decodeAll(bytes: Buffer): unknown[] {
  const events: unknown[] = []
  let at = 0
  while (at < bytes.length) {
    const from = at + 4
    at = from + bytes.readUInt32BE(at)
    events.push(decode(bytes.subarray(from, at)))
  }
  expect(at).toBe(bytes.length)
  return events
}

test.each([
  'Hello',
  'What is the weather in Lisbon?',
  'What is 17 * 23?',
  'Add a proverb: Still waters run deep',
  'Simulate a model failure',
])('the built server says in protobuf what it says in SSE: %s', async (content) => {
  const text = (await hear(content, 'text/event-stream')).toString()
  const [started, ...others] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
  expect(others.length).toBeGreaterThan(2)
  // In protobuf, a list that is left out is an empty one.
  const input = { context: [], tools: [], resume: [], ...started.input }
  const decoded = decodeAll(await hear(content, 'application/vnd.ag-ui.event+proto'))
  expect(decoded).toEqual([{ ...started, input }, ...others])
})
