import { type Draft, memoryLog } from '@millrace/core'
import { expect, test } from 'vitest'
import { loadSession, refreshSession } from './load-session.ts'

const set = (key: string, value: number): Draft => ({
  run: '',
  event: { kind: 'state', patch: [{ op: 'add', path: `/${key}`, value }] },
})

async function setup() {
  const clock = { now: 1 }
  const log = memoryLog(() => clock.now)
  const info = await log.create({ id: 's', user: 'u', agent: 'a' })
  const asked: string[] = []
  const { facts } = log
  log.facts = (session, at) => {
    asked.push(session)
    return facts(session, at)
  }
  return { log, info, clock, asked }
}

test('facts are asked for once, again when rows came, and never for a session without rows', async () => {
  const { log, info, asked } = await setup()
  const empty = await loadSession(log, info)
  expect(asked).toEqual([])
  await log.append('s', [set('a', 1), set('b', 2)])
  const first = await refreshSession(log, empty)
  await log.append('s', [set('a', 3)])
  const second = await refreshSession(log, first)
  expect(asked).toEqual(['s', 's'])
  expect((await refreshSession(log, second)).facts).toBe(second.facts)
  expect(asked).toEqual(['s', 's'])
  expect(first.facts.state).toEqual({ a: 1, b: 2 })
  expect(second).toMatchObject({ info: { lastSeq: 3 }, facts: { seq: 3, state: { a: 3, b: 2 } } })
})

test('a session that was deleted and created again has the facts of its own rows; one that is gone is not-found', async () => {
  const { log, info, clock } = await setup()
  await log.append('s', [set('a', 1)])
  const before = await loadSession(log, (await log.get('s')) ?? info)
  await log.remove('s')
  await expect(refreshSession(log, before)).rejects.toMatchObject({ code: 'not-found' })
  clock.now = 2
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await log.append('s', [set('b', 1)])
  expect((await refreshSession(log, before)).facts.state).toEqual({ b: 1 })
})
