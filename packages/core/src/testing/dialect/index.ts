import type { Dialect } from '../../dialect/dialect.ts'
import { whyNotRunEvent } from '../../event/guard.ts'
import type { Draft, Recorded } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { sseReader } from '../../frame/sse.ts'
import { defined } from '../../json/defined.ts'
import { views } from '../../view/registry.ts'
import { fold, type View } from '../../view/view.ts'
import { recorded } from '../recorded.ts'
import type { Runner } from '../runner.ts'
import { hostileStreams, isGarbage } from './hostile-frames.ts'
import { type DialectVector, wireText } from './vector.ts'

export {
  type DialectVector,
  type DialectVectorFile,
  dialectVector,
  type WrittenFrame,
  wireText,
  writtenFrame,
} from './vector.ts'

const newlines = ['\n', '\r\n', '\r'] as const
const sizes = [1, 7, Number.POSITIVE_INFINITY] as const

/**
 * What every dialect must do (SPEC 3), in executable form: for each vector, and for frames that no vector has.
 *
 * ```ts
 * import { describeDialect, dialectVector } from '@millrace/core/testing'
 * import { describe, expect, test } from 'vitest'
 * import hello from './hello.json' with { type: 'json' }
 * import { morse } from './morse.ts'
 * describeDialect({ describe, expect, test }, morse, [dialectVector('hello', hello)])
 * ```
 */
export function describeDialect(runner: Runner, dialect: Dialect, vectors: readonly DialectVector[]): void {
  const { describe, expect, test } = runner
  describe(`Dialect: ${dialect.name}`, () => {
    test('there are vectors', () => expect(vectors.length).toBeGreaterThan(0))
    for (const vector of vectors) {
      describe(`${vector.name}: ${vector.note}`, () => vectorContract(runner, dialect, vector))
    }
    const own = vectors.flatMap(({ wire }) => wire)
    if (own.length > 0) totalContract(runner, dialect, own)
  })
}

function vectorContract({ expect, test }: Runner, dialect: Dialect, vector: DialectVector): void {
  for (const size of sizes) {
    for (const newline of newlines) {
      test(`SPEC 3.2: decodes in chunks of ${size} with newline ${JSON.stringify(newline)}`, () => {
        const { drafts, session } = decodeVector(dialect, vector, size, newline)
        expect(drafts).toEqual(vector.drafts)
        if (vector.session !== undefined) expect(session).toBe(vector.session)
      })
    }
  }

  test('SPEC 3.2: a BOM changes nothing', () => {
    expect(decodeVector(dialect, vector, 1, '\n', '\uFEFF').drafts).toEqual(vector.drafts)
  })

  test('SPEC 3.4: prints the same wire, or what the vector declares instead', () => {
    expect(encodeAll(dialect, recorded(vector.drafts), vector.session)).toEqual(vector.encoded)
    if (vector.lossy === undefined) {
      expect(vector.encoded).toEqual(vector.wire)
      return
    }
    const reason = vector.lossy.join('').trim()
    expect({ 'a lossy vector has a reason': reason !== '' }).toEqual({ 'a lossy vector has a reason': true })
    const differs = JSON.stringify(vector.encoded) !== JSON.stringify(vector.wire)
    expect({ 'a lossy vector loses something': differs }).toEqual({ 'a lossy vector loses something': true })
  })

  test('SPEC 1.6: its events may enter a log; SPEC 5.6: every view takes them', () => {
    for (const { event } of vector.drafts) expect(whyNotRunEvent(event)).toBe(undefined)
    foldAll(recorded(vector.drafts))
  })

  test('SPEC 3.5: what is printed for a row depends on nothing but the rows before it', () => {
    const rows = recorded(vector.drafts)
    const [first, second] = [dialect.encoder({ session: 's' }), dialect.encoder({ session: 's' })]
    for (const row of rows) {
      second.prelude()
      expect(second.push(row)).toEqual(first.push(row))
    }
  })
}

function totalContract({ expect, test }: Runner, dialect: Dialect, own: readonly Frame[]): void {
  test('SPEC 3.1, 3.3: no input throws, and no frame is dropped silently', () => {
    for (const frames of hostileStreams(own, 200)) {
      const decoder = dialect.decoder({ run: 'r', agent: 'a' })
      const drafts = [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end('closed')]
      for (const { event } of drafts) expect(whyNotRunEvent(event)).toBe(undefined)
      const rows = recorded(drafts)
      encodeAll(dialect, rows)
      foldAll(rows)
      const foreign = drafts.filter(({ event }) => event.kind === 'foreign').length
      expect(foreign).toBeGreaterThan(frames.filter(isGarbage).length - 1)
    }
  })

  test('SPEC 3.6: a stream that was cut does not read as success', () => {
    for (let at = 0; at <= own.length; at += Math.max(1, Math.floor(own.length / 50))) {
      const decoder = dialect.decoder({ run: 'r', agent: 'a' })
      for (const frame of own.slice(0, at)) decoder.push(frame)
      for (const { event } of decoder.end('cut')) {
        if (event.kind === 'run.finished') expect(event.outcome === 'done').toBe(false)
      }
    }
  })
}

function foldAll(rows: readonly Recorded[]): void {
  for (const view of Object.values<View<unknown>>(views)) fold(view, rows)
}

/** Every frame that a new encoder prints for the rows. */
export function encodeAll(dialect: Dialect, rows: readonly Recorded[], session = 's'): readonly Frame[] {
  const encoder = dialect.encoder({ session })
  return rows.flatMap((row) => encoder.push(row))
}

/** Text to events, in chunks of `size` UTF-16 code units: pairs of surrogates are split too. */
function decodeVector(
  dialect: Dialect,
  vector: DialectVector,
  size: number,
  newline: '\n' | '\r\n' | '\r',
  before = '',
): { readonly drafts: readonly Draft[]; readonly session: string | undefined } {
  const text = before + wireText(vector.wire, newline) + vector.tail.replaceAll('\n', newline)
  const reader = sseReader()
  const decoder = dialect.decoder({ run: vector.run, ...defined({ agent: vector.agent }) })
  const drafts: Draft[] = []
  for (let at = 0; at < text.length; at += Math.min(size, text.length)) {
    for (const frame of reader.feed(text.slice(at, at + size))) drafts.push(...decoder.push(frame))
  }
  drafts.push(...decoder.end(reader.open ? 'cut' : vector.end))
  return { drafts, session: decoder.session }
}
