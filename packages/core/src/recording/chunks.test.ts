import { expect, test } from 'vitest'
import { maxFrameSize } from '../frame/sse.ts'
import { readRecording } from './recording.ts'

const text = 'x'.repeat(200_000)
const events = Array.from({ length: Math.ceil(maxFrameSize / text.length) + 1 }, (_, i) =>
  JSON.stringify({ id: `e${i}`, author: 'a', timestamp: 1, content: { role: 'model', parts: [{ text }] } }),
)

test.each([
  ['lines', events.map((event) => `${event}\n`).join('')],
  ['SSE', events.map((event) => `data: ${event}\n\n`).join('')],
  ['a list', `[${events.join(',')}]`],
])('%s that come as one chunk, longer than any frame may be, are read', async (_name, whole) => {
  const kinds: string[] = []
  async function* once() {
    yield whole
  }
  for await (const { event } of readRecording(once(), { run: 'r', now: () => 1 })) kinds.push(event.kind)
  expect(kinds.filter((kind) => kind === 'agent')).toHaveLength(events.length)
})
