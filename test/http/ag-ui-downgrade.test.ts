import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { agUi, dialectNames, type Frame, type Recorded } from '@millrace/core'
import { recorded } from '@millrace/core/testing'
import fc from 'fast-check'
import { from, lastValueFrom, type Observable, toArray } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { eventsOf } from '../kit/ag-ui-official.ts'
import { chaos, sessions } from '../kit/arbitrary-events.ts'
import { loadVectors } from '../kit/vectors.ts'

// Whatever log we print for a client before 1.0, its schemas and its verifier accept every event.

interface Schema {
  parse(event: unknown): unknown
}
type Verify = (logger: unknown) => (events: Observable<unknown>) => Observable<unknown>
const require = createRequire(import.meta.url)
const versions = ['ag-ui-client-0.0.59', 'ag-ui-client-0.0.55', 'ag-ui-client-0.0.52', 'ag-ui-client-0.0.46'].map(
  (name) => {
    const { verifyEvents }: { verifyEvents: Verify } = require(name)
    const { EventSchemas }: { EventSchemas: Schema } = createRequire(require.resolve(name))('@ag-ui/core')
    return { name, verifyEvents, EventSchemas }
  },
)

async function acceptedBefore(frames: readonly Frame[]): Promise<void> {
  const events = eventsOf(frames)
  for (const { name, verifyEvents, EventSchemas } of versions) {
    for (const event of events) EventSchemas.parse(event)
    for (const run of runsOf(events)) {
      const passed = await lastValueFrom(from(run).pipe(verifyEvents(undefined), toArray()))
      expect(passed, name).toHaveLength(run.length)
    }
  }
}

/** A client of 0.x hears one run in a stream: it takes nothing after RUN_ERROR, not even the next RUN_STARTED. */
function runsOf<T extends { readonly type: string }>(events: readonly T[]): readonly (readonly T[])[] {
  const runs: T[][] = []
  for (const event of events) {
    if (event.type === 'RUN_STARTED') runs.push([])
    runs.at(-1)?.push(event)
  }
  return runs
}

function printed(rows: readonly Recorded[], session = 's'): readonly Frame[] {
  const encoder = agUi.encoder({ session, protocol: '0' })
  return rows.flatMap((row) => encoder.push(row))
}

function joined(rows: readonly Recorded[], cut: number, session = 's'): readonly Frame[] {
  const encoder = agUi.encoder({ session, protocol: '0' })
  for (const row of rows.slice(0, cut)) encoder.push(row)
  return [...encoder.prelude(), ...rows.slice(cut).flatMap((row) => encoder.push(row))]
}

const folder = new URL('../../vectors/', import.meta.url)
const logs = dialectNames
  .filter((name) => existsSync(new URL(`${name}/`, folder)))
  .flatMap((from) => loadVectors(from).map((vector) => ({ ...vector, from })))
test('there are logs to print', () => {
  expect(logs.length).toBeGreaterThan(50)
})

describe('clients of 0.x accept every event', () => {
  test.each(logs)('$from/$name', async ({ drafts, session }) => {
    const rows = recorded(drafts)
    await acceptedBefore(printed(rows, session))
    await acceptedBefore(joined(rows, Math.ceil(rows.length / 2), session))
  })
  test('of random logs, as engines write them and in any order, joined anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(sessions(), chaos()), fc.nat({ max: 1000 }), async (rows, where) => {
        await acceptedBefore(printed(rows))
        await acceptedBefore(joined(rows, where % (rows.length + 1)))
      }),
      { numRuns: 100 },
    )
  })
})
