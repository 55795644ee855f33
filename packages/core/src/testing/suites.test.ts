import { expect, test } from 'vitest'
import type { Decoder, Dialect, Encoder } from '../dialect/dialect.ts'
import type { Draft } from '../event/run-event.ts'
import type { Frame } from '../frame/frame.ts'
import type { View } from '../view/view.ts'
import { describeDialect, describeView, dialectVector, type Runner, type ViewVector, viewVector } from './index.ts'

/** The titles of the tests that fail, each without its group. */
async function failures(suite: (runner: Runner) => void): Promise<readonly string[]> {
  const tests: [name: string, body: () => Promise<void> | void][] = []
  suite({ describe: (_, body) => body(), test: (name, body) => tests.push([name, body]), expect })
  expect(tests.length).toBeGreaterThan(0)
  const failed: string[] = []
  for (const [name, body] of tests) {
    try {
      await body()
    } catch {
      failed.push(name)
    }
  }
  return failed
}

// A dialect that a stranger might write: each frame is a line of a log.
const shout: Dialect = {
  name: 'shout',
  recognises: ({ event }) => event === 'info',
  decoder: ({ run }) => shoutDecoder(run),
  encoder: () => ({
    push: ({ event }) => (event.kind === 'log' ? [{ event: event.level, data: event.message }] : []),
    prelude: () => [],
  }),
}

function shoutDecoder(run: string): Decoder {
  const read = ({ event, data }: Frame): Draft => ({
    run,
    event:
      event === 'info'
        ? { kind: 'log', level: 'info', message: data }
        : { kind: 'foreign', dialect: 'shout', raw: data, reason: 'not a log line' },
  })
  return { push: (frame) => [read(frame)], end: () => [], session: undefined }
}

const hello = dialectVector('hello', {
  note: 'two lines, one with letters beyond ASCII',
  run: 'r',
  wire: [
    { event: 'info', data: 'hello' },
    { event: 'info', data: '\u{1f525} über' },
  ],
  events: [
    { kind: 'log', level: 'info', message: 'hello' },
    { kind: 'log', level: 'info', message: '\u{1f525} über' },
  ],
})

const decoding = (change: (decoder: Decoder) => Partial<Decoder>): Dialect => ({
  ...shout,
  decoder(options) {
    const decoder = shout.decoder(options)
    return { push: decoder.push, end: decoder.end, session: undefined, ...change(decoder) }
  },
})
const encoding = (change: (encoder: Encoder) => Partial<Encoder>): Dialect => ({
  ...shout,
  encoder(options) {
    const encoder = shout.encoder(options)
    return { ...encoder, ...change(encoder) }
  },
})

test("a stranger's dialect passes", async () => {
  expect(await failures((runner) => describeDialect(runner, shout, [hello]))).toEqual([])
})

test.each<[what: string, dialect: Dialect, spec: RegExp]>([
  [
    'a decoder that throws',
    decoding(({ push }) => ({ push: (frame) => (frame.event === 'info' ? push(frame) : JSON.parse(frame.data)) })),
    /SPEC 3\.1/,
  ],
  [
    'a decoder that drops frames',
    decoding(({ push }) => ({ push: (frame) => (frame.event === 'info' ? push(frame) : []) })),
    /SPEC 3\.1, 3\.3/,
  ],
  [
    'a decoder that takes a cut stream for success',
    decoding(() => ({ end: () => [{ run: 'r', event: { kind: 'run.finished', outcome: 'done' } }] })),
    /SPEC 3\.6/,
  ],
  [
    'an encoder that prints something else',
    encoding(({ push }) => ({ push: (row) => push(row).map(({ data }) => ({ data })) })),
    /SPEC 3\.4/,
  ],
  [
    'an encoder that a joining reader disturbs',
    encoding(({ push }) => {
      let readers = 0
      const prelude = () => {
        readers++
        return []
      }
      return { prelude, push: (row) => (readers > 1 ? [] : push(row)) }
    }),
    /SPEC 3\.5/,
  ],
])('%s is found', async (_, dialect, spec) => {
  const failed = await failures((runner) => describeDialect(runner, dialect, [hello]))
  expect(failed).toContainEqual(expect.stringMatching(spec))
})

test('a suite without vectors fails', async () => {
  expect(await failures((runner) => describeDialect(runner, shout, []))).toEqual(['there are vectors'])
  expect(await failures((runner) => describeView(runner, countView, []))).toEqual(['there are vectors'])
})

test('a vector that declares a loss must lose something, and say why', async () => {
  const title = /SPEC 3\.4/
  const lost = { ...hello, lossy: ['the case'] }
  expect(await failures((runner) => describeDialect(runner, shout, [lost]))).toEqual([expect.stringMatching(title)])
  const other = { ...hello, wire: [...hello.wire, { comment: 'end', data: '' }], drafts: hello.drafts }
  const quiet = decoding(({ push }) => ({ push: (frame) => (frame.comment === undefined ? push(frame) : []) }))
  const run = (lossy: readonly string[]) => (runner: Runner) => describeDialect(runner, quiet, [{ ...other, lossy }])
  expect(await failures(run(['the closing comment']))).toEqual([])
  expect(await failures(run([' ']))).toEqual([expect.stringMatching(title)])
})

// A view that a stranger might write: how many events there are of each kind.
const countView: View<Readonly<Record<string, number>>> = {
  name: 'count',
  initial: {},
  dependsOnPartials: true,
  apply: (counts, { event }) => ({ ...counts, [event.kind]: (counts[event.kind] ?? 0) + 1 }),
}

const token = (text: string, partial: boolean) =>
  ({
    kind: 'agent',
    message: 'm',
    event: { id: text, author: 'a', invocationId: 'i', timestamp: 1, partial, content: { parts: [{ text }] } },
  }) as const

const counted: ViewVector = viewVector('counted', {
  note: 'a message in two tokens',
  events: [token('a', true), token('b', true), token('ab', false)],
  expect: { agent: 3 },
})

test("a stranger's view passes", async () => {
  expect(await failures((runner) => describeView(runner, countView, [counted]))).toEqual([])
})

test.each<[what: string, view: View<Readonly<Record<string, number>>>, spec: RegExp]>([
  ['a wrong result', { ...countView, initial: { agent: 1 } }, /what the vector expects/],
  [
    'a view that changes its earlier state',
    { ...countView, apply: (counts) => Object.assign(counts, { agent: (counts.agent ?? 0) + 1 }), initial: {} },
    /SPEC 5\.1/,
  ],
  [
    'a view that forgets to say that it counts partials',
    { name: countView.name, initial: {}, apply: countView.apply },
    /SPEC 5\.3/,
  ],
  [
    'a view that needs its events in order',
    {
      ...countView,
      apply(counts, row) {
        if (counts.agent === undefined && row.event.kind === 'agent' && row.event.event.partial !== true)
          throw new Error('a whole message before its tokens')
        return countView.apply(counts, row)
      },
    },
    /SPEC 5\.6/,
  ],
])('%s is found', async (_, view, spec) => {
  const failed = await failures((runner) => describeView(runner, view, [counted]))
  expect(failed).toContainEqual(expect.stringMatching(spec))
})
