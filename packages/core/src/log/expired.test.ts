import { expect, test } from 'vitest'
import { memoryLog } from './memory-log.ts'

const started = { kind: 'run.started', agent: 'a', input: { messages: [] } } as const

test('an open run that no lease covers is reported, so that recovery can give it its end', async () => {
  const log = memoryLog(() => 1)
  await log.restore({ id: 's', user: 'u', agent: 'a' }, [{ seq: 4, at: 1, run: 'r', event: started }])
  expect(await log.expired()).toEqual([{ session: 's', run: 'r', owner: '', epoch: 0, until: 0 }])
})

test('a process that comes back under its own name finds the live leases of its former life', async () => {
  const log = memoryLog(() => 1)
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const lease = await log.acquire('s', 'r', 'me', 1000)
  expect(await log.expired()).toEqual([])
  expect(await log.expired('other')).toEqual([])
  expect(await log.expired('me')).toEqual([lease])
})

test('of two that take over the same dead lease, one wins', async () => {
  const log = memoryLog(() => 1)
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const dead = await log.acquire('s', 'r', 'dead', 0)
  const mine = await log.takeOver(dead, 'me', 1000)
  await expect(log.takeOver(dead, 'late', 1000)).rejects.toMatchObject({ code: 'lease-lost' })
  expect((await log.renew(mine, 1000)).epoch).toBe(mine.epoch)
})
