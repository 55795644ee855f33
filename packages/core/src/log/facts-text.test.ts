import { describe, expect, test } from 'vitest'
import type { AdkActions } from '../event/adk-event.ts'
import type { Recorded, RunEvent } from '../event/run-event.ts'
import { noFacts, type SessionFacts, sessionFacts } from '../event/session-facts.ts'
import { printFacts, readFacts } from './facts-text.ts'

const start = (more: object = {}): RunEvent => ({ kind: 'run.started', agent: 'a', input: { messages: [] }, ...more })
const end: RunEvent = { kind: 'run.finished', outcome: 'done' }
const asks = (id: string): RunEvent => ({ kind: 'interrupt', id, reason: 'input_required' })
const answers = (interrupt: string): RunEvent => ({ kind: 'resumed', interrupt, status: 'resolved' })
const agent = (actions: AdkActions, more: object = {}): RunEvent => ({
  kind: 'agent',
  message: 'm',
  node: 'a@1',
  event: { id: 'm', author: 'a', invocationId: 'i', timestamp: 1, actions, ...more },
})
const rowsOf = (events: readonly (readonly [string, RunEvent])[]): readonly Recorded[] =>
  events.map(([run, event], i) => ({ seq: i + 1, at: i, run, event }))

/** Two runs that ask and answer, artifacts by both doors, a fork, and a third run in the place of the second. */
const long = rowsOf([
  ['r1', start({ forkOf: { session: 'other', seq: 3 } })],
  ['r1', asks('q1')],
  ['r1', { kind: 'artifact', id: 'f1', name: 'a.txt', type: 'note', version: 0 }],
  ['r1', { kind: 'artifact', id: 'f2', name: 'gone.txt', type: 'note', version: 0, deleted: true }],
  ['r1', agent({ stateDelta: { n: 1 }, artifactDelta: { 'b.txt': 2 } })],
  ['r1', agent({ artifactDelta: { 'partial.txt': 1 } }, { partial: true })],
  ['r1', agent({})],
  ['r1', end],
  ['r2', start()],
  ['r2', answers('q1')],
  ['r2', asks('q2')],
  ['r2', answers('never asked')],
  ['r2', end],
  ['r3', start({ replaces: [{ run: 'r2', messages: [], nodes: [] }] })],
])

describe('what the rows of a session add up to', () => {
  test('questions, answers, forks, artifacts, state and the open run', () => {
    const facts = sessionFacts(long.slice(0, 13))
    expect([...facts.open.keys()]).toEqual(['q2'])
    expect([...facts.answers.keys()]).toEqual(['q1', 'never asked'])
    expect(facts.asked.get('q1')).toMatchObject({ run: 'r1', answeredBy: 'r2' })
    expect([...facts.artifacts]).toEqual([
      ['a.txt', 0],
      ['b.txt', 2],
    ])
    expect([...facts.forks]).toEqual(['["other",3]'])
    expect(facts.state).toEqual({ n: 1 })
    expect(facts.openRun).toBeUndefined()
    expect(sessionFacts(long.slice(0, 9)).openRun).toEqual({ run: 'r2', seq: 9 })
  })

  test('SPEC 4.7: a question of a replaced run is void, and one that it answered is open again', () => {
    const facts = sessionFacts(long)
    expect([...facts.open.keys()]).toEqual(['q1'])
    expect(facts.answers.has('q1')).toBe(false)
    expect([...facts.replaced]).toEqual(['r2'])
  })
})

describe('SPEC 2.12: a checkpoint of facts', () => {
  test('every cut: the rows after a checkpoint that was printed and read give the facts of all rows', () => {
    const whole = plain(sessionFacts(long))
    for (let at = 0; at <= long.length; at++) {
      const read = readFacts(printFacts(sessionFacts(long.slice(0, at))))
      expect(plain(sessionFacts(long.slice(at), read ?? noFacts)), `after row ${at}`).toEqual(whole)
    }
  })

  test.each([
    ['half a text', printFacts(sessionFacts(long)).slice(0, 40)],
    ['another value', '7'],
    ['a seq that is no number', '{"seq":"1","state":{}}'],
    ['a state that is no object', '{"seq":1,"state":null}'],
    ['missing lists', '{"seq":1,"state":{}}'],
  ])('%s is no checkpoint', (_name, text) => {
    expect(readFacts(text)).toBeUndefined()
  })
})

/** Maps and sets as lists, in their order: the latest question comes last. */
function plain(facts: SessionFacts): object {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [
      key,
      value instanceof Map || value instanceof Set ? [...value] : value,
    ]),
  )
}
