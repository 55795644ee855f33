import { dialects, type Recorded, type RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'

/** One run: a message in four partials and whole, a call with its answer, a change of state, an artifact, the end. */
function run(name: string): readonly RunEvent[] {
  const say = (id: string, message: string, parts: object[], more: object = {}): RunEvent =>
    ({
      kind: 'agent',
      message: `${name}-${message}`,
      node: 'a@1',
      event: {
        id: `${name}-${id}`,
        author: 'a',
        invocationId: name,
        timestamp: 1,
        content: { role: 'model', parts },
        ...more,
      },
    }) as RunEvent
  const words = ['one ', 'two ', 'three ', 'four']
  return [
    { kind: 'run.started', agent: 'a', input: { messages: [] } },
    { kind: 'node.started', node: 'a@1', agent: 'a' },
    ...words.map((text, i) => say(`p${i}`, 'm', [i === 0 ? { text, thought: true } : { text }], { partial: true })),
    say('w', 'm', [{ text: 'one ', thought: true }, { text: 'two three four' }], {
      actions: { stateDelta: { said: name } },
    }),
    say('c', 'c', [{ functionCall: { id: `${name}-call`, name: 'look', args: {} } }]),
    say('r', 'r', [{ functionResponse: { id: `${name}-call`, name: 'look', response: { ok: true } } }]),
    { kind: 'node.finished', node: 'a@1', status: 'ok' },
    { kind: 'run.finished', outcome: 'done' },
  ]
}

const rows: readonly Recorded[] = ['r1', 'r2', 'r3']
  .flatMap((name) => run(name).map((event) => ({ run: name, event })))
  .map(({ run, event }, i) => ({ seq: i + 1, at: 1_000 + i, run, event }))
const last = rows.findIndex(({ run }) => run === 'r3')
const isPartial = ({ event }: Recorded): boolean => event.kind === 'agent' && event.event.partial === true

test.each(Object.values(dialects).map((dialect) => [dialect.name, dialect] as const))(
  'SPEC 2.5: %s prints a run in the same way whether partials of earlier runs were read or not',
  (_, dialect) => {
    const printed = (before: readonly Recorded[]) => {
      const encoder = dialect.encoder({ session: 's' })
      for (const row of before) encoder.push(row)
      return rows.slice(last).map((row) => encoder.push(row))
    }
    const earlier = rows.slice(0, last)
    const brief = earlier.filter((row) => !isPartial(row))
    expect(brief.length).toBeLessThan(earlier.length)
    expect(printed(brief)).toEqual(printed(earlier))
  },
)
