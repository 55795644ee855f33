import { expect, test } from 'vitest'
import type { SessionInfo } from './event-log.ts'
import { forkSession } from './history.ts'
import { memoryLog } from './memory-log.ts'
import { agentSession, checkSessionId, idInKey, sessionKey, withOwnId } from './session-key.ts'

test('SPEC 6.8: a key has its user, and no two users have the same', () => {
  const names = ['', 'a', 'b', 'a:b', 'a/b', 'ä', 'a\u001fb', '%', 'a%3Ab']
  const ids = ['t1', 'a:t1', 'b:t1', 'b', '~', 'x/y']
  const keys = new Set<string>()
  const threads = new Set<string>()
  for (const user of names) {
    for (const id of ids) {
      const key = sessionKey(user, id)
      expect(idInKey(key)).toBe(id)
      keys.add(key)
      threads.add(agentSession(key))
    }
  }
  expect([keys.size, threads.size]).toEqual([names.length * ids.length, names.length * ids.length])
})

test('without users the id is the key, and no id looks like a key', () => {
  expect([idInKey('a:b'), agentSession('a:b')]).toEqual(['a:b', 'a:b'])
  expect(() => checkSessionId('a\u001fb')).toThrow('U+001F')
  expect(() => sessionKey('u', 'a\u001fb')).toThrow('U+001F')
  const info = { id: 's', user: 'u' } as SessionInfo
  expect(withOwnId(info)).toBe(info)
  expect(withOwnId({ ...info, id: sessionKey('u', 's') })).toEqual(info)
})

test('a search finds the id of a session, and not the user in its key', async () => {
  const log = memoryLog(() => 1)
  await log.create({ id: sessionKey('ada', 't1'), user: 'ada', agent: 'a' })
  expect((await log.list({ search: 'ada' })).total).toBe(0)
  expect((await log.list({ search: 'T1' })).total).toBe(1)
})

test('where a log can share rows, a fork reads only those of the run that is open', async () => {
  const log = memoryLog(() => 1)
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const calls: unknown[] = []
  const sharing = {
    ...log,
    read: (id: string, options: { after: number }) => {
      calls.push(['read', options.after])
      return log.read(id, options)
    },
    fork: async (...[source, seq, session, ends]: Parameters<NonNullable<typeof log.fork>>) => {
      calls.push(['fork', source, seq, ends.map(({ seq: at, event }) => [at, event.kind])])
      return log.create(session)
    },
  }
  const started = { kind: 'run.started', agent: 'a', input: { messages: [] } } as const
  const lease = await log.acquire('s', 'r', 'me', 10)
  await log.append('s', [{ run: 'r', event: started }], lease)
  await log.append('s', [{ run: 'r', event: { kind: 'run.finished', outcome: 'done' } }], lease)
  await log.release(lease)
  const next = await log.acquire('s', 'r2', 'me', 10)
  await log.append('s', [{ run: 'r2', event: started }], next)
  await forkSession(sharing, 's', 2, 'ended')
  await forkSession(sharing, 's', 3, 'open')
  expect(calls).toEqual([
    ['fork', 's', 2, []],
    ['read', 2],
    ['fork', 's', 3, [[4, 'run.finished']]],
  ])
})
