import {
  applyState,
  convert,
  type DialectName,
  detectDialect,
  dialects,
  type Frame,
  type JsonObject,
  MillraceError,
  printFrame,
  type Recorded,
  type RunEvent,
  readRecording,
} from '@millrace/core'
import { type DialectVector, encodeAll, recorded, wireText } from '@millrace/core/testing'
import { describe, expect, test } from 'vitest'
import { loadVectors } from '../kit/vectors.ts'

const names = Object.keys(dialects) as DialectName[]
const spoken = names.filter((name) => name !== 'millrace')
const now = (): number => 1_700_000_000_000

/** Wires of bare text: text that was streamed stays, because an aggregate that differs cannot replace it. */
const appends: ReadonlySet<DialectName> = new Set(['studio', 'plan'])

/** Which targets carry the state, and what of it: ADK cannot remove a key, Studio cuts what lies deep, a plan has none. */
const carries: Readonly<Record<DialectName, 'all' | 'set' | 'shallow' | 'none'>> = {
  adk: 'set',
  'ag-ui': 'all',
  studio: 'shallow',
  plan: 'none',
  millrace: 'all',
}

/** What a target cannot express, so that reading it back does not restore it. */
const limits: Readonly<Record<string, readonly DialectName[]>> = {
  // Without an end of its own, the end of the stream is one.
  'ag-ui/no-end': ['adk', 'studio', 'plan'],
  'ag-ui/chunks-unclosed': ['adk', 'studio', 'plan'],
  'ag-ui/after-the-end': ['adk'],
  // Only the author distinguishes messages.
  'ag-ui/interleaved-messages': ['studio', 'plan'],
  'ag-ui/tool-call-inside-open-text': ['adk'],
  // What was said cannot be taken back.
  'ag-ui/messages-snapshot': ['adk', 'studio', 'plan'],
  'ag-ui/messages-snapshot-edits': ['adk', 'studio', 'plan'],
  // A run in which nothing is said leaves no trace.
  'ag-ui/interrupted-subagents': ['plan'],
  'ag-ui/several-runs': ['plan'],
}

describe.each(spoken)('%s', (from) => {
  describe.each(loadVectors(from))('$name', (vector) => {
    test('is recognised among the dialects', () => {
      if (undetectable(vector)) return
      expect(detectDialect(wireText(vector.wire))).toBe(from)
      expect(detectDialect(vector.wire)).toBe(from)
    })

    const able = names.filter((to) => limits[`${from}/${vector.name}`]?.includes(to) !== true)
    test.each(able)('to %s: what was said, the state and how it ended are kept', async (to) => {
      const frames = await collect(convert(inChunks(textOf(vector), 61), options(vector, from, to)))
      const rows = await collect(
        readRecording(inChunks(frames.map(printFrame).join(''), 67), { from: to, run: vector.run, now }),
      )
      const source = recorded(vector.drafts)
      expect(outcomes(rows)).toEqual(outcomes(source))
      const said = plainText(rows).replaceAll(/\s/g, '')
      const wanted = messages(source, appends.has(to) && from !== to).map((text) => text.replaceAll(/\s/g, ''))
      for (const text of wanted) expect(said).toContain(text)
      expect(said).toHaveLength(wanted.join('').length)
      sameState(stateOf(rows), stateOf(source), carries[to])
    })
  })
})

/** Nothing in it but what any stream could carry. */
function undetectable({ wire }: DialectVector): boolean {
  return wire.every(
    ({ event, data, comment }) => comment !== undefined || (event === undefined && !data.startsWith('{')),
  )
}

test('a session export goes in and out: header, seqs and times are kept', async () => {
  const rows: Recorded[] = [
    { seq: 3, at: 5, run: 'r', event: { kind: 'run.started', agent: 'a', input: { messages: [] } } },
    { seq: 7, at: 9, run: 'r', event: { kind: 'run.finished', outcome: 'done' } },
  ]
  const header = { format: 'millrace.session', version: 1, session: { id: 's-9', agent: 'a', title: '' } }
  const text = `\uFEFF${[header, ...rows].map((line) => JSON.stringify(line)).join('\n')}`
  expect(detectDialect(text)).toBe('millrace')
  expect(await collect(readRecording(inChunks(text, 1), { run: 'x', now }))).toEqual(rows)
  const studio = await collect(convert(inChunks(text, 5), { to: 'studio', run: 'x', now }))
  expect(studio[0]).toEqual({ event: 'session', data: 's-9' })
})

test('an export whose header names no session takes the run for one', async () => {
  const lines = (header: object): string =>
    [
      { format: 'millrace.session', ...header },
      { seq: 1, at: 1, run: 'r', event: { kind: 'run.started', agent: '', input: { messages: [] } } },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
  for (const header of [{}, { session: {} }]) {
    const [first] = await collect(convert(inChunks(lines(header), 50), { to: 'studio', run: 'x', now }))
    expect(first?.data).toBe('x')
  }
})

test('the majority decides what a recording speaks', () => {
  const plan = { event: 'done', data: '{"type":"done"}' }
  const studio = { event: 'chunk', data: 'x' }
  expect(detectDialect([plan, studio, studio])).toBe('studio')
  expect(detectDialect([studio, plan, plan])).toBe('plan')
  expect(detectDialect([{ data: '{"type":"RUN_STARTED","threadId":"t","runId":"r"}' }])).toBe('ag-ui')
})

test('events of ADK, one a line, are read as lines', async () => {
  const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1, content: { parts: [{ text: 'hi' }] } }
  const rows = await collect(readRecording(inChunks(`${JSON.stringify(event)}\n`, 9), { run: 'r', now }))
  expect(plainText(rows)).toBe('hi')
})

const event = (i: number, invocationId = 'i'): object => ({
  id: `e${i}`,
  author: 'a',
  invocationId,
  timestamp: 1_767_081_391 + i,
  content: { parts: [{ text: `word ${i} ` }] },
})
const wordy = Array.from({ length: 8 }, (_, i) => event(i, i < 4 ? 'i' : 'j'))
test.each([
  ['lines', wordy.map((each) => JSON.stringify(each)).join('\r\n')],
  ['lines after blank ones', `\n\n${wordy.map((each) => JSON.stringify(each)).join('\n\n')}\n`],
  ['a list', JSON.stringify(wordy)],
  ['a list over many lines', `\uFEFF\n${JSON.stringify(wordy, null, 2)}\n`],
  ['an ADK session', JSON.stringify({ id: 's', appName: 'a', events: wordy })],
  ['an ADK session over many lines', JSON.stringify({ id: 's', appName: 'a', events: wordy }, null, '\t')],
])('SPEC 3.2: %s: the same rows, however it is cut', async (_name, text) => {
  const read = (size: number): Promise<Recorded[]> => collect(readRecording(inChunks(text, size), { run: 'r', now }))
  const whole = await read(text.length)
  expect(plainText(whole)).toBe(wordy.map((_, i) => `word ${i} `).join(''))
  expect(whole.map(({ run }) => run)).toEqual([...Array(6).fill('r'), ...Array(6).fill('r.2')])
  expect(whole.map(({ at }) => at / 1000 - 1_767_081_391)).toEqual([0, 0, 1, 2, 3, 3, 4, 4, 5, 6, 7, 7])
  for (const size of [1, 7, 61]) expect(await read(size)).toEqual(whole)
})

test('a first line that is damaged is kept, and the lines after it are read', async () => {
  const text = `{"id": "e0", "auth\n${JSON.stringify(event(1))}\n${JSON.stringify(event(2))}\n`
  for (const size of [1, 7, text.length]) {
    const rows = await collect(readRecording(inChunks(text, size), { run: 'r', now }))
    expect(rows.flatMap(({ event }) => (event.kind === 'foreign' ? [event.raw] : []))).toEqual(['{"id": "e0", "auth'])
    expect(plainText(rows)).toBe('word 1 word 2 ')
  }
})

test('where no frame has a time, all of them have the time of the reading', async () => {
  const text = wordy.map((each) => `${JSON.stringify({ ...each, timestamp: undefined })}\n`).join('')
  const rows = await collect(readRecording(inChunks(text.repeat(20), 999), { run: 'r', now }))
  expect(new Set(rows.map(({ at }) => at))).toEqual(new Set([now()]))
})

test('a source that breaks gives the frames so far, an end that says so, and its error', async () => {
  async function* broken(): AsyncGenerator<string> {
    yield 'event: session\ndata: s\n\nevent: chunk\ndata: Half\n\n'
    throw new MillraceError('remote-error', 'gone')
  }
  const frames: Frame[] = []
  const read = async (): Promise<void> => {
    for await (const frame of convert(broken(), { from: 'studio', to: 'plan', run: 'r', now })) frames.push(frame)
  }
  await expect(read()).rejects.toMatchObject({ code: 'remote-error' })
  expect(frames.map(({ event }) => event)).toEqual(['content', 'error', 'done'])
})

test('text that no dialect speaks is refused, and so is a dialect that does not exist', async () => {
  const refused = (text: string, more = {}): Promise<unknown> =>
    collect(convert(inChunks(text, 7), { to: 'adk', run: 'r', now, ...more }))
  await expect(refused('data: hello\n\n')).rejects.toMatchObject({ code: 'invalid' })
  await expect(refused(': ping\n\n'.repeat(60))).rejects.toMatchObject({ code: 'invalid' })
  await expect(refused('')).rejects.toMatchObject({ code: 'invalid' })
  await expect(refused('', { to: 'constructor' })).rejects.toMatchObject({ code: 'invalid' })
  expect(detectDialect('hello')).toBeUndefined()
})

test('a comment or two before the first frame does not hide the dialect', async () => {
  const text = `: hi\n\n: there\n\n: you\n\n${wireText([{ event: 'chunk', data: 'x' }])}`
  expect(plainText(await collect(readRecording(inChunks(text, 3), { run: 'r', now })))).toBe('x')
})

test('one frame after the other: nothing waits for the end of the source', async () => {
  const source = (function* () {
    yield 'event: session\ndata: s\n\n'
    yield 'event: chunk\ndata: now\n\n'
    throw new Error('read too far')
  })()
  const frames = convert(asyncOf(source), { from: 'studio', to: 'plan', run: 'r', now })
  expect((await frames.next()).value).toMatchObject({ event: 'content' })
  await frames.return()
})

test('a recording may be one chunk of any number of frames', async () => {
  const count = 200_000
  let frames = 0
  for await (const _ of convert(asyncOf(['data: 1\n\n'.repeat(count)]), {
    from: 'adk',
    to: 'millrace',
    run: 'r',
    now,
  })) {
    frames += 1
  }
  expect(frames).toBe(count + 2)
})

function options(vector: DialectVector, from: DialectName, to: DialectName) {
  const { run, agent } = vector
  return { from, to, run, now, ...(agent === undefined ? {} : { agent }) }
}

/** A cut stream stops inside a frame. */
function textOf({ wire, end, tail }: DialectVector): string {
  return wireText(wire) + (end === 'cut' && tail === '' ? 'data: {"half' : tail)
}

async function* inChunks(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

async function* asyncOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Every message's text once: its aggregate, or its partials where none came (or where streamed text cannot be replaced). */
function messages(rows: readonly Recorded[], firstStands = false): string[] {
  const texts = new Map<string, string>()
  const whole = new Set<string>()
  for (const { run, event } of rows) {
    if (event.kind === 'superseded') for (const message of event.messages) texts.delete(`${run} ${message}`)
    if (event.kind !== 'agent' || event.event.author === 'user') continue
    const key = `${run} ${event.message}`
    const text = (event.event.content?.parts ?? [])
      .map((part) => (part.thought === true ? '' : (part.text ?? '')))
      .join('')
    if (event.event.partial !== true && text !== '') {
      const streamed = texts.get(key) ?? ''
      texts.set(key, firstStands && !text.startsWith(streamed) ? streamed : text)
      whole.add(key)
    } else if (!whole.has(key)) texts.set(key, (texts.get(key) ?? '') + text)
  }
  return [...texts.values()]
}

function plainText(rows: readonly Recorded[]): string {
  return messages(rows).join('')
}

function outcomes(rows: readonly Recorded[]): string[] {
  return rows.flatMap(({ event }) => (event.kind === 'run.finished' ? [event.outcome] : []))
}

function stateOf(rows: readonly Recorded[]): JsonObject {
  return rows.reduce<JsonObject>((state, { event }) => applyState(state, event), {})
}

function sameState(got: JsonObject, wanted: JsonObject, how: 'all' | 'set' | 'shallow' | 'none'): void {
  if (how === 'all') expect(got).toEqual(wanted)
  if (how === 'set') expect(got).toMatchObject(wanted)
  if (how === 'shallow') expect(cut(got)).toEqual(cut(wanted))
}

/** As Studio shows a state: by Studio itself. */
function cut(state: JsonObject): unknown {
  const started: RunEvent = { kind: 'run.started', agent: '', input: { messages: [], state } }
  const frames = encodeAll(
    dialects.studio,
    recorded([started, { kind: 'run.finished', outcome: 'done' } as const].map((event) => ({ run: 'r', event }))),
  )
  return JSON.parse(frames.find(({ event }) => event === 'trace')?.data ?? '{}').state_snapshot.output
}
