import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** What a person wants to press. A list that scrolls under the pointer may need another look for it. */
export type Target = Locator | (() => Promise<Locator>)

interface Point {
  readonly x: number
  readonly y: number
}

interface Aim {
  /** Milliseconds after which the element counts as unreachable. */
  readonly timeout?: number
  /** The point to press in a box of this size; the middle by default. */
  readonly spot?: (box: { readonly width: number; readonly height: number }) => Point
}

/** Clicks an element as a person does: it has come to rest, it is what is under the pointer there, and the mouse presses. */
export async function press(page: Page, target: Target, aim: Aim = {}): Promise<void> {
  const { x, y } = await underPointer(target, aim)
  await page.mouse.click(x, y)
}

/** Moves the mouse over an element that a person can reach with it. */
export async function pointAt(page: Page, target: Target): Promise<void> {
  const { x, y } = await underPointer(target, {})
  await page.mouse.move(x, y)
}

/** Presses a key on an element that has the focus. The focus would be gone if the panel were drawn anew in between. */
export async function pressKey(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await drawn(page)
  const focused = async (): Promise<boolean> => {
    await target.focus()
    return target.evaluate((element) => element === document.activeElement)
  }
  await expect.poll(focused, { timeout: hang }).toBe(true)
  await page.keyboard.press(key)
}

/** The panels of a slow machine follow the cursor a little later. */
export const drawn = (page: Page): Promise<void> => page.locator('.upper[aria-busy="false"]').waitFor()

/** Milliseconds after which a wait counts as hanging. A busy machine takes seconds to draw a page. */
const hang = 120_000
const moving = 'the element moves'
const middle: NonNullable<Aim['spot']> = ({ width, height }) => ({ x: width / 2, y: height / 2 })

/** Looks until the element rests and is on top at the point that is pressed. A person who loses sight of it scrolls again. */
async function underPointer(wanted: Target, { timeout = hang, spot = middle }: Aim): Promise<Point> {
  let before = ''
  let point = { x: 0, y: 0 }
  let target: Locator | undefined
  const look = async (): Promise<string> => {
    // The same one as in the look before, unless that is gone: in a list that scrolls, each look would find another.
    target ??= typeof wanted === 'function' ? await wanted() : wanted
    const found = await stateOf(target)
    if (found !== 'reached' && found !== moving) target = undefined
    return found
  }
  const stateOf = async (each: Locator): Promise<string> => {
    if ((await each.count()) === 0) return 'the element is not on the page'
    await intoView(each)
    const box = await each.boundingBox({ timeout: 10_000 }).catch(() => null)
    if (box === null) return 'the element is not shown'
    const [last, now] = [before, JSON.stringify(box)]
    before = now
    if (now !== last) return moving
    const inside = spot(box)
    point = { x: box.x + inside.x, y: box.y + inside.y }
    return each.evaluate(topAt, point)
  }
  await expect.poll(look, { timeout }).toBe('reached')
  return point
}

function topAt(element: Element, { x, y }: Point): string {
  const found = document.elementFromPoint(x, y)
  return element.contains(found) ? 'reached' : `covered by ${found?.getAttribute('class')} ${found?.tagName}`
}

/** An element of a long list may be gone before it is scrolled to; then the next look finds it. */
export const intoView = (target: Locator): Promise<void> =>
  target
    .first()
    .scrollIntoViewIfNeeded({ timeout: 2000 })
    .catch(() => undefined)
