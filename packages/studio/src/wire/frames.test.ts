import { expect, test } from 'vitest'
import { briefly, countUpTo, typesUpTo, type WireFrame } from './frames.ts'

const frames: readonly WireFrame[] = [
  [1, 'RUN_STARTED'],
  [2, 'TEXT'],
  [2, 'TEXT'],
  [3, 'TOOL'],
  [5, 'TEXT'],
].map(([seq, name]) => ({ seq: Number(seq), name: String(name), at: 0, frame: { data: '' } }))

test('the types at a moment count the same frames as the list at that moment', () => {
  for (const seq of [0, 1, 2, 3, 4, 5, 9]) {
    const types = typesUpTo(frames, seq)
    expect([...types.values()].reduce((sum, count) => sum + count, 0)).toBe(countUpTo(frames, seq))
  }
  expect(Object.fromEntries(typesUpTo(frames, 2))).toEqual({ RUN_STARTED: 1, TEXT: 2 })
})

test('a row of the wire begins with what is its own', () => {
  const actions = '{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{}}'
  const ids = '"invocationId":"e-1","author":"coordinator","id":"ev1"'
  const content = '"content":{"role":"model","parts":[{"text":"Keep "}]},"partial":true'
  expect(briefly(`{${ids},"actions":${actions},"longRunningToolIds":[],"timestamp":1.5,${content}}`)).toBe(
    `{${content}}`,
  )
  expect(briefly(`{${ids},"actions":{"stateDelta":{"a":1}},${content}}`)).toBe(
    `{"actions":{"stateDelta":{"a":1}},${content}}`,
  )
  expect(briefly('{"type":"RUN_STARTED","threadId":"t"}')).toBe('{"threadId":"t"}')
  expect(briefly('{"type":"RUN_STARTED"}')).toBe('{}')
  expect(briefly('[DONE]')).toBe('[DONE]')
})
