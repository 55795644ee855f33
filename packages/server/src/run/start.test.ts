import { expect, test } from 'vitest'
import { bench, note, nothing, scripted } from '../../../../test/kit/engine-kit.ts'
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
