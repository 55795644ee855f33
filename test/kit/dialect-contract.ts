import {
  type Dialect,
  type Draft,
  type Frame,
  fold,
  type Recorded,
  sseReader,
  type View,
  views,
  whyNotRunEvent,
} from '@millrace/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadVectors, type Vector, wireText } from './vectors.ts'

/** What every dialect must do (SPEC 3): run by each dialect's test file in one line. */
export function describeDialect(dialect: Dialect): void {
  const vectors = loadVectors(dialect.name)
  test('there are vectors', () => expect(vectors.length).toBeGreaterThan(0))

  describe.each(vectors)('$name: $note', (vector) => {
    test.each(sizes.flatMap((size) => newlines.map((newline) => [size, newline] as const)))(
      'SPEC 3.2: decodes in chunks of %d with newline %j',
      (size, newline) => {
        expect(decodeVector(dialect, vector, size, newline)).toEqual(vector.drafts)
      },
    )
    test('SPEC 3.2: a BOM changes nothing', () => {
      expect(decodeVector(dialect, vector, 1, '\n', '\uFEFF')).toEqual(vector.drafts)
    })
    test('SPEC 3.4: prints the same wire, or what the vector says instead', () => {
      const frames = encodeAll(dialect, recorded(vector.drafts), vector.session)
      expect(frames).toEqual(vector.encoded)
      if (vector.lossy === undefined) expect(vector.encoded).toEqual(vector.wire)
      else {
        expect(vector.lossy.join('')).toMatch(/\S/)
        expect(vector.encoded, 'nothing is lost: do not declare it').not.toEqual(vector.wire)
      }
    })
    test('SPEC 1.6: its events may enter a log; SPEC 5.6: every view takes them', () => {
      for (const { event } of vector.drafts) expect(whyNotRunEvent(event)).toBeUndefined()
      foldAll(recorded(vector.drafts))
    })
    test('SPEC 2.5, 3.5: a warmed encoder goes on exactly where the first one was', () => {
      const rows = recorded(vector.drafts)
      const whole = rows.map(framesOf(dialect))
      for (let cut = 0; cut <= rows.length; cut += Math.max(1, Math.floor(rows.length / 7))) {
        expect(rows.map(framesOf(dialect)).slice(cut)).toEqual(whole.slice(cut))
      }
    })
  })

  test('SPEC 3.1, 3.3: no input throws, and no frame is dropped silently', () => {
    fc.assert(
      fc.property(fc.array(frames(dialect), { maxLength: 12 }), (input) => {
        const decoder = dialect.decoder({ run: 'r', agent: 'a' })
        const drafts = [...input.flatMap((frame) => decoder.push(frame)), ...decoder.end('closed')]
        for (const { event } of drafts) expect(whyNotRunEvent(event)).toBeUndefined()
        const rows = recorded(drafts)
        encodeAll(dialect, rows)
        foldAll(rows)
        const unreadable = input.filter((frame) => frame.event === undefined && frame.data.startsWith('!'))
        const kept = drafts.filter(({ event }) => event.kind === 'foreign').length
        expect(kept).toBeGreaterThanOrEqual(unreadable.length)
      }),
      { numRuns: 200 },
    )
  })
}

function foldAll(rows: readonly Recorded[]): void {
  for (const view of Object.values<View<unknown>>(views)) fold(view, rows)
}

const sizes = [1, 7, Number.POSITIVE_INFINITY] as const
const newlines = ['\n', '\r\n', '\r'] as const

/** Frames a hostile or newer peer might send: garbage, half-right JSON, the vectors' own frames out of order. */
function frames(dialect: Dialect): fc.Arbitrary<Frame> {
  const known = loadVectors(dialect.name).flatMap((vector) => vector.wire)
  const json = fc.json({ maxDepth: 3 }).map((data) => ({ data }))
  const garbage = fc.string().map((text) => ({ data: `!${text}` }))
  const named = fc.record({ event: fc.constantFrom('trace', 'chunk', 'done', 'nonsense'), data: fc.json() })
  return fc.oneof(fc.constantFrom(...known), json, garbage, named)
}

export function recorded(drafts: readonly Draft[]): readonly Recorded[] {
  return drafts.map((draft, i) => ({
    seq: i + 1,
    at: draft.at ?? 1_700_000_000_000 + i,
    run: draft.run,
    event: draft.event,
  }))
}

export function encodeAll(dialect: Dialect, rows: readonly Recorded[], session = 's'): readonly Frame[] {
  const encoder = dialect.encoder({ session })
  return rows.flatMap((row) => encoder.push(row))
}

const framesOf = (dialect: Dialect): ((row: Recorded) => readonly Frame[]) => {
  const encoder = dialect.encoder({ session: 's' })
  return (row) => encoder.push(row)
}

/** Bytes to events, in chunks of `size` bytes: split UTF-8 sequences included. */
export function decodeVector(
  dialect: Dialect,
  vector: Vector,
  size: number,
  newline: '\n' | '\r\n' | '\r',
  before = '',
): Draft[] {
  const wire = before + wireText(vector.wire, newline) + vector.tail.replaceAll('\n', newline)
  const bytes = new TextEncoder().encode(wire)
  const text = new TextDecoder('utf-8', { ignoreBOM: true })
  const reader = sseReader()
  const decoder = dialect.decoder({ run: vector.run, ...(vector.agent === undefined ? {} : { agent: vector.agent }) })
  const drafts: Draft[] = []
  for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length)) {
    const chunk = text.decode(bytes.subarray(at, at + Math.min(size, bytes.length)), { stream: true })
    for (const frame of reader.feed(chunk)) drafts.push(...decoder.push(frame))
  }
  drafts.push(...decoder.end(reader.open ? 'cut' : vector.end))
  if (vector.session !== undefined) expect(decoder.session).toBe(vector.session)
  return drafts
}
