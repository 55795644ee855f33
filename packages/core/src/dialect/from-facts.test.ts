import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AdkActions } from '../event/adk-event.ts'
import type { Draft, RunEvent } from '../event/run-event.ts'
import { sessionFacts } from '../event/session-facts.ts'
import { recorded } from '../testing/recorded.ts'
import { dialects } from './registry.ts'

const able = Object.values(dialects).filter(({ fromFacts }) => fromFacts === true)

test('Studio and ADK can begin at the start of a run', () => {
  expect(able.map(({ name }) => name)).toEqual(['studio', 'adk'])
})

const said = (message: string, partial: boolean, actions: AdkActions): RunEvent => ({
  kind: 'agent',
  message,
  node: 'a@1',
  event: {
    id: `${message}${partial}`,
    author: 'a',
    invocationId: 'i',
    timestamp: 1.7e12,
    content: { role: 'model', parts: [{ text: message }] },
    actions,
    ...(partial ? { partial } : {}),
  },
})
const name = fc.constantFrom('x', 'y', 'z')
const version = fc.integer({ min: 0, max: 3 })
const event = fc.oneof<fc.Arbitrary<RunEvent>[]>(
  fc.tuple(name, fc.boolean(), version).map(([key, partial, at]) => said(key, partial, { stateDelta: { [key]: at } })),
  fc
    .tuple(name, fc.boolean(), version)
    .map(([key, partial, at]) => said(key, partial, { artifactDelta: { [key]: at } })),
  fc
    .tuple(name, version)
    .map(([key, value]): RunEvent => ({ kind: 'state', patch: [{ op: 'add', path: `/${key}`, value }] })),
  fc
    .tuple(name, version)
    .map(([key, at]): RunEvent => ({ kind: 'artifact', id: key, name: key, type: 'other', version: at })),
  name.map((id): RunEvent => ({ kind: 'interrupt', id, reason: 'input_required', node: `${id}@1` })),
  name.map((interrupt): RunEvent => ({ kind: 'resumed', interrupt, status: 'resolved', payload: 1 })),
  fc.constant<RunEvent>({ kind: 'node.started', node: 'a@1', agent: 'a' }),
  fc.constant<RunEvent>({ kind: 'node.finished', node: 'a@1', status: 'ok' }),
)
const run = fc
  .tuple(fc.array(event, { maxLength: 8 }), fc.array(event, { maxLength: 2 }), name, version)
  .map(([inside, after, key, value]): readonly RunEvent[][] => [
    [
      { kind: 'run.started', agent: 'a', input: { messages: [], state: { [key]: value } } },
      ...inside,
      { kind: 'run.finished', outcome: 'done' },
    ],
    after.filter(({ kind }) => kind === 'state'),
  ])
const session = fc
  .array(run, { minLength: 1, maxLength: 5 })
  .map((runs) =>
    recorded(
      runs.flatMap(([inside = [], after = []], i): readonly Draft[] => [
        ...inside.map((one) => ({ run: `r${i}`, event: one })),
        ...after.map((one) => ({ run: '', event: one })),
      ]),
    ),
  )

describe.each(able.map((dialect) => [dialect.name, dialect] as const))('%s', (_, dialect) => {
  test('SPEC 3.5: an encoder that begins with the facts prints what one from row 1 prints, from any start of a run', () => {
    fc.assert(
      fc.property(session, (rows) => {
        const whole = dialect.encoder({ session: 's' })
        const printed = rows.map((row) => whole.push(row))
        for (const [at, row] of rows.entries()) {
          if (row.event.kind !== 'run.started') continue
          const facts = sessionFacts(rows.slice(0, at))
          const short = dialect.encoder({ session: 's', facts })
          expect(rows.slice(at).map((later) => short.push(later))).toEqual(printed.slice(at))
        }
      }),
    )
  })
})
