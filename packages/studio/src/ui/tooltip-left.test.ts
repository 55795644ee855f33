import { expect, test } from 'vitest'
import { tooltipLeft } from './tooltip-left.ts'

const visible = { left: 400, right: 1000 }

test('a tooltip is below the middle of its anchor', () => {
  expect(tooltipLeft({ left: 500, right: 700 }, visible, 100, 1200)).toBe(550)
})

test('of an anchor that begins or ends outside the view, the visible part counts', () => {
  expect(tooltipLeft({ left: -3000, right: 600 }, visible, 100, 1200)).toBe(450)
  expect(tooltipLeft({ left: 800, right: 9000 }, visible, 100, 1200)).toBe(850)
})

test('a tooltip stays inside the window', () => {
  expect(tooltipLeft({ left: 0, right: 10 }, { left: 0, right: 1200 }, 100, 1200)).toBe(8)
  expect(tooltipLeft({ left: 1190, right: 1200 }, { left: 0, right: 1200 }, 100, 1200)).toBe(1092)
})
