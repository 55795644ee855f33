import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OpenList } from './open-list.ts'

test('holds the open items in order, whichever are closed and when', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('open', 'open', 'close', 'look'), fc.nat()), { maxLength: 200 }),
      (steps) => {
        const list = new OpenList<object>()
        const open: object[] = []
        for (const [step, which] of steps) {
          if (step === 'open') {
            const item = {}
            list.open(item)
            open.push(item)
          } else if (step === 'close' && open.length > 0) {
            const [item] = open.splice(which % open.length, 1)
            list.close(item!)
          } else {
            expect([list.first, list.last]).toEqual([open[0], open.at(-1)])
            expect(list.first).toBe(open[0])
            expect(list.last).toBe(open.at(-1))
          }
          expect(list.size).toBe(open.length)
        }
      },
    ),
  )
})

test('items that were closed between open ones are released', () => {
  const list = new OpenList<object>()
  const first = {}
  list.open(first)
  for (let i = 0; i < 10_000; i++) {
    const item = {}
    list.open(item)
    if (i < 9_999) list.close(item)
  }
  expect(list.size).toBe(2)
  expect(list.first).toBe(first)
})
