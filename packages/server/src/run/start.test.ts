import { memoryLog } from '@millrace/core'
import { expect, test } from 'vitest'
import { bench, note, nothing, scripted } from '../../../../test/kit/engine-kit.ts'
import { aborted } from '../../../../test/kit/waiting.ts'
import { loadSession } from './load-session.ts'

async function* speaks() {
  yield note('hello')
}

test('a session that another user created again after it was loaded is not-found', async () => {
  const { log, engine, rows } = bench([scripted('a', speaks)])
  const info = await log.create({ id: 's', user: 'u', agent: 'a' })
  const loaded = await loadSession(log, info)
  await log.remove('s')
  await log.create({ id: 's', user: 'other', agent: 'a' })
  const start = engine.start({ session: 's', user: 'u', agent: 'a', input: nothing, loaded })
  await expect(start).rejects.toMatchObject({ code: 'not-found' })
  expect(await rows()).toEqual([])
  await engine.start({ session: 's', user: 'other', agent: 'a', input: nothing })
})

test('a start that takes longer than its lease is unavailable, records nothing, and can be sent again', async () => {
  const clock = { now: 1_000 }
  const memory = memoryLog(() => clock.now)
  let isSlow = true
  const log: typeof memory = {
    ...memory,
    sharedState: async (info) => {
      if (isSlow) {
        clock.now += 10_000_000
        await memory.release(await memory.takeOver({ session: 's', run: 'r' }, 'another process', 1_000))
      }
      return memory.sharedState(info)
    },
  }
  const slow = bench([scripted('a', speaks)], { log, clock })
  await expect(slow.start('a', { run: 'r' })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('send it again'),
  })
  expect(await slow.rows()).toEqual([])
  isSlow = false
  await slow.start('a', { run: 'r' })
  await slow.engine.wait('s', 'r')
  expect(await slow.kinds('r')).toEqual(['run.started', 'log', 'run.finished'])
})

test('a run that another process took before it could wait is not said to be unrecorded', async () => {
  const memory = memoryLog(() => 1_000)
  const log: typeof memory = {
    ...memory,
    takeOver: async (dead, owner, ttl) => {
      await memory.takeOver({ session: dead.session, run: dead.run }, 'another process', 1_000)
      return memory.takeOver(dead, owner, ttl)
    },
  }
  const busy = scripted('busy', (_input, { signal }) => aborted(signal) as never)
  const own = bench([busy], { log, limits: { perProcess: 1, queue: 1, queuePerUser: 1 } })
  const other = await own.start('busy', { session: 'b' })
  await expect(own.start('busy', { run: 'late' })).rejects.toMatchObject({ code: 'lease-lost' })
  expect(await own.kinds('late')).toEqual(['run.started', 'log'])
  await own.engine.cancel('b', other.run)
  await own.engine.shutdown(0)
})
