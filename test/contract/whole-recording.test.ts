import { fold, itemsOf, type RecordingOptions, transcriptView, wholeRecording } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { agUi, began, events, inMs, jsonl, plan, session, snake, sse, studio } from '../kit/recordings.ts'

const read = (text: string, more: Partial<RecordingOptions> = {}) =>
  wholeRecording(text, { run: 'r0', now: () => 1, ...more })
const saidIn = ({ rows }: Awaited<ReturnType<typeof read>>): readonly string[] =>
  itemsOf(fold(transcriptView, rows)).flatMap((item) =>
    item.kind === 'message' && item.text !== '' ? [item.text] : [],
  )
const asked = ['Which fire?', 'Cedar Creek.']

describe('a recording says what it is: dialect, agent and messages', () => {
  test.each([
    ['ADK, one event a line', jsonl(events), 'adk', 'scout', asked],
    ['ADK, snake case', jsonl(snake), 'adk', 'scout', asked],
    ['ADK, milliseconds', jsonl(inMs), 'adk', 'scout', asked],
    ['ADK, SSE', sse(events), 'adk', 'scout', asked],
    ['ADK, an array', JSON.stringify(events), 'adk', 'scout', asked],
    ['ADK, an array after a byte order mark', `\uFEFF${JSON.stringify(events, null, 2)}`, 'adk', 'scout', asked],
    ['ADK, a single event over many lines', JSON.stringify(events[3], null, 2), 'adk', 'scout', ['Cedar Creek.']],
    ['an ADK session', JSON.stringify(session), 'adk', 'scouts', [...asked, ...asked]],
    [
      'an ADK session, as Python prints it',
      JSON.stringify({ id: 's', app_name: 'scouts', user_id: 'u', state: {}, events: snake }),
      'adk',
      'scouts',
      asked,
    ],
    ['a session without a name', JSON.stringify({ id: 7, state: [], events }), 'adk', 'scout', asked],
    ['AG-UI, SSE', sse(agUi), 'ag-ui', '', ['Cedar Creek.']],
    ['AG-UI, one event a line', jsonl(agUi), 'ag-ui', '', ['Cedar Creek.']],
    ['Studio', studio, 'studio', 'scout', ['Cedar Creek.']],
    ['plan', plan, 'plan', '', ['Cedar Creek.']],
  ])('%s', async (_name, text, dialect, agent, said) => {
    const whole = await read(text)
    expect({ dialect: whole.dialect, said: saidIn(whole) }).toEqual({ dialect, said })
    expect(whole.agent).toBe(agent)
  })

  test('the state of a session that its events do not explain is a row of its own', async () => {
    const hostile = JSON.stringify({ ...session, state: { fire: 'Cedar', region: 'west' } }).replace(
      '"region"',
      '"__proto__":{"a":1},"region"',
    )
    const { rows } = await read(hostile)
    expect(rows.flatMap(({ event }) => (event.kind === 'state' ? [event.patch] : []))).toEqual([
      [{ op: 'add', path: '/region', value: 'west' }],
    ])
  })

  test('an agent that the caller names is the agent of the run', async () => {
    expect((await read(sse(agUi), { agent: 'mine' })).agent).toBe('mine')
  })

  test('a recording without times has the time of the reader', async () => {
    const { rows } = await read(plan, { now: () => 42 })
    expect(new Set(rows.map(({ at }) => at))).toEqual(new Set([42]))
  })
})

describe('SPEC 2.10: a run without an end is ended as cut', () => {
  test.each([
    ['AG-UI', sse(agUi.slice(0, 7))],
    ['Studio', studio.slice(0, studio.indexOf('event: chunk'))],
    ['ADK, half a message', jsonl([...events.slice(0, 3), { ...events[3], partial: true }])],
    ['ADK, inside a frame', sse(events).slice(0, -40)],
  ])('%s', async (_name, text) => {
    const { rows } = await read(text)
    expect(rows.at(-1)?.event).toMatchObject({ kind: 'run.finished', outcome: 'failed', error: { code: 'cut' } })
    expect(rows.filter(({ event }) => event.kind === 'run.finished')).toHaveLength(1)
    expect(rows.at(-1)?.at).toBeGreaterThanOrEqual(text.includes('timestamp') ? began * 1000 : 1)
  })
})

test('a frame that cannot be read is kept, and the agent is still found', async () => {
  const { rows, agent } = await read(`{"half": \n${jsonl(events)}`, { from: 'adk' })
  expect(rows.flatMap(({ event }) => (event.kind === 'foreign' ? [event.raw] : []))).toEqual(['{"half": '])
  expect(agent).toBe('scout')
})

describe('what cannot be read is refused, with the place and the reason', () => {
  test.each([
    ['nothing', '', {}, /no events|neither/],
    ['plain text', 'hello, this is no recording\n', {}, /neither JSON nor an event stream/],
    ['frames of nothing', 'data: hello\n\ndata: again\n\n', {}, /frame 1: not JSON/],
    ['lines of other JSON', '{"a":1}\n{"b":2}\n', {}, /line 1: .*dialect/],
    ['sixty lines of other JSON', '{"a":1}\n'.repeat(60), {}, /line 1: .*dialect/],
    ['lines that were said to be ADK', '{"a":1}\n{"b":2}\n', { from: 'adk' }, /adk.*line 1: not an ADK event/],
    ['frames that were said to be AG-UI', 'data: 1\n\n', { from: 'ag-ui' }, /ag-ui.*frame 1: not an object/],
    ['a dialect that does not exist', sse(events), { from: 'morse' }, /unknown dialect morse/],
    ['an empty array', '[]', {}, /no event/],
    ['half an array', JSON.stringify(events).slice(0, 300), {}, /ends too early/],
    ['an array of numbers', '[1,2,3]', {}, /event 1: /],
  ])('%s', async (_name, text, more, why) => {
    await expect(read(text, more as Partial<RecordingOptions>)).rejects.toThrow(why)
  })
})

test('a recording that names no agent is of none, and its messages have the role as their author', async () => {
  const { rows } = await read(sse(agUi))
  expect(rows[0]?.event).toMatchObject({ kind: 'run.started', agent: '' })
  expect(rows.flatMap(({ event }) => (event.kind === 'agent' ? [event.event.author] : []))).toContain('assistant')
})

describe('SPEC 2.10: an export of a session', () => {
  const info = { id: 's', agent: 'scout', title: 'Fires', forkOf: { session: 'before', seq: 3 } }
  const header = JSON.stringify({ format: 'millrace.session', version: 1, session: info })
  const rows = [
    { seq: 4, at: 10, run: 'r', event: { kind: 'run.started', agent: 'scout', input: { messages: [] } } },
    { seq: 9, at: 20, run: 'r', event: { kind: 'run.finished', outcome: 'done' } },
  ]
  const lines = [header, ...rows.map((row) => JSON.stringify(row))]

  test('has its rows, its agent, its title and where it was forked', async () => {
    const { id: _, ...session } = info
    expect(await read(lines.join('\n'))).toEqual({ dialect: 'millrace', ...session, rows })
  })
  test.each([
    ['a damaged line', [...lines.slice(0, 2), '{"seq":9'], 'line 3: '],
    ['a line that is no row', [...lines, '{"a":1}'], 'line 4: '],
    ['seqs that go back', [header, lines[2] ?? '', lines[1] ?? ''], 'line 3: seq 4 must be greater than 9'],
    ['another version', [header.replace('"version":1', '"version":9'), ...lines.slice(1)], 'line 1: '],
    ['rows without a header', lines.slice(1), 'line 1: not the header'],
  ])('%s refuses the whole file, and names the line', async (_name, broken, why) => {
    await expect(read(broken.join('\n'))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(why),
    })
  })
})

test('a long recording gives other work a turn, again and again', async () => {
  const frames = Array.from(
    { length: 3000 },
    (_, i) => `data: {"id":"e${i}","author":"a","content":{"parts":[{"text":"${'x'.repeat(200)}"}]}}\n\n`,
  )
  let pauses = 0
  const pause = async (): Promise<void> => {
    pauses += 1
  }
  const { rows } = await read(frames.join(''), { from: 'adk', pause })
  expect(rows.length).toBeGreaterThan(3000)
  expect(pauses).toBeGreaterThan(2)
})
