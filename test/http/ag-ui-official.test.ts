import { existsSync } from 'node:fs'
import { agUi, dialectNames, type Recorded } from '@millrace/core'
import { encodeAll, recorded, withoutPartials } from '@millrace/core/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accepted, expectSame, type Official, official } from '../kit/ag-ui-official.ts'
import { chaos, sessions } from '../kit/arbitrary-events.ts'
import { loadVectors } from '../kit/vectors.ts'

// Whatever log we print as AG-UI, the protocol's own client accepts it and ends with what our views show.

const folder = new URL('../../vectors/', import.meta.url)
const dialects = dialectNames.filter((name) => existsSync(new URL(`${name}/`, folder)))
const logs = dialects.flatMap((dialect) =>
  loadVectors(dialect).map((vector) => ({ ...vector, from: dialect, newer: vector.name === 'newer-fields' })),
)
test('there are logs of several dialects', () => {
  expect(dialects.length).toBeGreaterThan(1)
  expect(logs.length).toBeGreaterThan(50)
})

describe.each(logs)('$from/$name', ({ drafts, session, newer }) => {
  const rows = recorded(drafts)
  test('the official client accepts it, and ends with what our views show', async () => {
    expectSame(await official(encodeAll(agUi, rows, session), newer), rows)
  })
  test('a reader that joins late ends with the same state as one that was there from the start', async () => {
    const { messages, state } = await official(encodeAll(agUi, rows, session), newer)
    for (const cut of new Set([1, Math.ceil(rows.length / 2), rows.length])) {
      expect(await joined(rows, cut, newer)).toMatchObject({ messages, state })
    }
  })
})

describe('random logs', () => {
  test('as engines write them: the same, joined anywhere, with partials or without', async () => {
    await fc.assert(
      fc.asyncProperty(sessions(), fc.nat({ max: 1000 }), async (rows, where) => {
        const client = await official(encodeAll(agUi, rows))
        expectSame(client, rows)
        const pruned = withoutPartials(rows)
        expectSame(await official(encodeAll(agUi, pruned)), pruned)
        const { messages, state } = client
        expect(await joined(rows, where % (rows.length + 1))).toMatchObject({ messages, state })
      }),
      { numRuns: 25 },
    )
  })
  test('of any events in any order: the official client accepts every frame, joined anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(chaos(), fc.nat({ max: 1000 }), async (rows, where) => {
        await accepted(encodeAll(agUi, rows))
        await accepted(framesJoined(rows, where % (rows.length + 1)))
      }),
      { numRuns: 150 },
    )
  })
  test('read from a wire whose frames were shuffled and spoilt: accepted all the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(frame, spoilt), { maxLength: 60 }), fc.nat(1000), async (frames, where) => {
        const decoder = agUi.decoder({ run: 'r0' })
        const rows = recorded([...frames.flatMap((one) => decoder.push(one)), ...decoder.end('cut')])
        await accepted(encodeAll(agUi, rows), true)
        await accepted(framesJoined(rows, where % (rows.length + 1)), true)
      }),
      { numRuns: 300 },
    )
  })
})

const frame = fc.constantFrom(
  ...loadVectors('ag-ui')
    .filter(({ name }) => name !== 'huge-text')
    .flatMap(({ wire }) => wire),
)
const fields = [
  'messageId',
  'toolCallId',
  'subagentRunId',
  'metadata',
  'timestamp',
  'role',
  'delta',
  'content',
] as const
const more = ['input', 'outcome', 'messages', 'snapshot', 'usage', 'name', 'value'] as const
const spoilt = fc
  .tuple(
    frame.filter(({ data }) => data.startsWith('{"')),
    fc.constantFrom(...fields, ...more),
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('m1', 'c1', 's1', 'r1')),
  )
  // The last of two equal keys counts, so this overwrites.
  .map(([{ data }, key, value]) => ({
    data: data.replace(/\}\s*$/, `,${JSON.stringify(key)}:${JSON.stringify(value)}}`),
  }))

function framesJoined(rows: readonly Recorded[], cut: number) {
  const encoder = agUi.encoder({ session: 's' })
  for (const row of rows.slice(0, cut)) encoder.push(row)
  return [...encoder.prelude(), ...rows.slice(cut).flatMap((row) => encoder.push(row))]
}

function joined(rows: readonly Recorded[], cut: number, newer = false): Promise<Official> {
  return official(framesJoined(rows, cut), newer)
}
