import { type DialectName, dialectNames, dialects, type RunEvent } from '@millrace/core'
import { encodeAll, recorded } from '@millrace/core/testing'
import { describe, expect, test } from 'vitest'

const feedback: RunEvent = { kind: 'feedback', about: { run: 'r1', message: 'm1' }, rating: 'down', note: 'Wrong.' }
const run: readonly RunEvent[] = [
  { kind: 'run.started', agent: 'a', input: { messages: [] } },
  {
    kind: 'agent',
    message: 'm1',
    event: {
      id: 'm1',
      author: 'a',
      invocationId: 'r1',
      timestamp: 1_700_000_000_000,
      content: { role: 'model', parts: [{ text: 'It is out.' }] },
    },
  },
  { kind: 'run.finished', outcome: 'done' },
]
const spoken = dialectNames.filter((name) => name !== 'millrace')
const printed = (name: DialectName, with_: boolean) => {
  const rows = run.map((event) => ({ run: 'r1', event }))
  const given = { run: '', event: feedback }
  const [start, ...rest] = rows
  if (start === undefined) throw new Error('no rows')
  const drafts = with_ ? [start, given, ...rest, given] : rows
  return encodeAll(dialects[name], recorded(drafts)).map(({ event, data }) => ({ event, data }))
}

describe('SPEC 1.11: feedback is in the log alone', () => {
  test.each(spoken)('%s prints the same with feedback and without', (name) => {
    // Times of frames follow the rows, and feedback is a row.
    const plain = (frames: unknown) => JSON.stringify(frames).replace(/\b1[67]\d{8,11}(\.\d+)?\b/g, 'time')
    expect(plain(printed(name, true))).toBe(plain(printed(name, false)))
  })
  test('the own dialect carries it', () => {
    expect(printed('millrace', true).filter(({ data }) => data.includes('"feedback"'))).toHaveLength(2)
  })
})
