import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventWindow } from './event-window.ts'

test('every window keeps its newest events, whatever was appended to other windows that share its array', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.nat({ max: 30 }), { maxLength: 60 }), (most, branches) => {
      const windows = [{ window: EventWindow.of<number>(most), items: [] as number[] }]
      for (const [item, from] of branches.entries()) {
        const parent = windows[Math.max(0, windows.length - 1 - from)]
        if (parent === undefined) return
        windows.push({ window: parent.window.append(item), items: [...parent.items, item] })
      }
      for (const { window, items } of windows) {
        expect(window.toArray()).toEqual(items.slice(-most))
        expect(window.length).toBe(Math.min(items.length, most))
        expect(window.toArray()).toBe(window.toArray())
      }
    }),
  )
})
