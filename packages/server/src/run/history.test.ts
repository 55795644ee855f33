import { memoryLog, type Recorded } from '@millrace/core'
import { expect, test } from 'vitest'
import { SessionHistories } from './history.ts'

const note = (message: string) => ({ run: '', event: { kind: 'log', level: 'info', message } as const })

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
  return { log, info, clock, afters, histories: new SessionHistories(log) }
}

const seqs = (rows: readonly Recorded[]): readonly number[] => rows.map(({ seq }) => seq)

test('the next turn reads only what is new, and gets nothing beyond its own start', async () => {
  const { log, info, afters, histories } = await setup()
  expect(await histories.upTo(info, 0)).toEqual([])
  await log.append('s', [note('1'), note('2'), note('3')])
  expect(seqs(await histories.upTo(info, 2))).toEqual([1, 2])
  await log.append('s', [note('4')])
  expect(seqs(await histories.upTo(info, 4))).toEqual([1, 2, 3, 4])
  expect(afters).toEqual([0, 2])
})

test('a session that was deleted and created again shares no rows with the one before', async () => {
  const { log, info, clock, histories } = await setup()
  await log.append('s', [note('old')])
  await histories.upTo(info, 1)
  await log.remove('s')
  clock.now = 2
  const again = await log.create({ id: 's', user: 'u', agent: 'a' })
  await log.append('s', [note('new')])
  expect(await histories.upTo(again, 1)).toEqual(await log.read('s', { after: 0 }))
})
