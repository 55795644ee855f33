import { expect, test } from 'vitest'
import { longTurn, ownTurn } from './turns.ts'

test('each slice of long work has a turn of the event loop of its own, in order', async () => {
  let turn = 0
  const count = (): void => {
    turn += 1
    if (turn < 50) setImmediate(count)
  }
  setImmediate(count)
  const turns: (readonly [number, string])[] = []
  const work = async (name: string): Promise<void> => {
    for (let slice = 0; slice < 3; slice += 1) {
      await ownTurn()
      turns.push([turn, name])
    }
  }
  await Promise.all([work('a'), work('b'), work('c')])
  expect(new Set(turns.map(([at]) => at)).size).toBe(turns.length)
  expect(turns.map(([, name]) => name).join('')).toBe('abcabcabc')
})

test('after a long slice comes a rest that is longer', async () => {
  const work = async (): Promise<readonly [number, number]> => {
    await longTurn()
    const begun = performance.now()
    while (performance.now() < begun + 20);
    return [begun, performance.now()]
  }
  const [[, end = 0] = [], [next = 0] = []] = await Promise.all([work(), work()])
  expect(next - end).toBeGreaterThan(20)
})
