import { type Draft, memoryLog } from '@millrace/core'
import { expect, test } from 'vitest'
import { loadSession, refreshSession } from './load-session.ts'
import { sessionFacts } from './session-facts.ts'

const set = (key: string, value: number): Draft => ({
  run: '',
  event: { kind: 'state', patch: [{ op: 'add', path: `/${key}`, value }] },
})

async function setup() {
  const clock = { now: 1 }
  const log = memoryLog(() => clock.now)
  const info = await log.create({ id: 's', user: 'u', agent: 'a' })
  const afters: number[] = []
  const { read } = log
  log.read = (session, options) => {
    afters.push(options.after)
    return read(session, options)
  }
  return { log, info, clock, afters }
}

test('a session is read once; a refresh reads only what came after, and nothing when nothing came', async () => {
  const { log, info, afters } = await setup()
  const empty = await loadSession(log, info)
  expect(afters).toEqual([])
  await log.append('s', [set('a', 1), set('b', 2)])
  const first = await refreshSession(log, empty)
  await log.append('s', [set('a', 3)])
  const second = await refreshSession(log, first)
  expect(afters).toEqual([0, 2])
  expect((await refreshSession(log, second)).facts).toBe(second.facts)
  expect(afters).toEqual([0, 2])
  expect(first.facts.state).toEqual({ a: 1, b: 2 })
  expect(second).toMatchObject({ info: { lastSeq: 3 }, facts: { state: { a: 3, b: 2 } } })
  expect(second.rows.map(({ seq }) => seq)).toEqual([1, 2, 3])
})

test('facts of a part and then of the rest are those of the whole', async () => {
  const { log } = await setup()
  const lease = await log.acquire('s', 'r', 'me', 10)
  const events = [
    { kind: 'run.started', agent: 'a', input: { messages: [], state: { x: 1 } }, forkOf: { session: 'o', seq: 1 } },
    { kind: 'interrupt', id: 'q', reason: 'confirmation' },
    { kind: 'resumed', interrupt: 'q', status: 'resolved' },
    { kind: 'interrupt', id: 'q2', reason: 'confirmation' },
    { kind: 'run.finished', outcome: 'interrupted' },
  ] as const
  const rows = await log.append(
    's',
    events.map((event) => ({ run: 'r', event })),
    lease,
  )
  for (let at = 0; at <= rows.length; at += 1)
    expect(sessionFacts(rows.slice(at), sessionFacts(rows.slice(0, at)))).toEqual(sessionFacts(rows))
})

test('a session that was deleted and created again is read whole; one that is gone is not-found', async () => {
  const { log, info, clock, afters } = await setup()
  await log.append('s', [set('a', 1)])
  const before = await loadSession(log, (await log.get('s')) ?? info)
  await log.remove('s')
  await expect(refreshSession(log, before)).rejects.toMatchObject({ code: 'not-found' })
  clock.now = 2
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await log.append('s', [set('b', 1), set('c', 2)])
  expect((await refreshSession(log, before)).facts.state).toEqual({ b: 1, c: 2 })
  expect(afters).toEqual([0, 0])
})
