import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { drawn, intoView, press, type Target } from '../pointer.ts'

export const kinds = ['examples', 'imported', 'long'] as const
export const cursors = ['latest', 'scrubbed'] as const
export const themes = ['light', 'dark'] as const
export const sizes = [
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
] as const
export const inputs = ['mouse', 'keyboard'] as const

export type Kind = (typeof kinds)[number]

/** The page as one cell of the matrix finds it. */
export interface Place {
  readonly page: Page
  readonly address: string
  readonly kind: Kind
  /** The session that is open, and the one with a plan in it. */
  readonly session: string
  readonly plan: string
  readonly cursor: (typeof cursors)[number]
  readonly input: (typeof inputs)[number]
  /** One pane at a time covers the conversation. */
  readonly narrow: boolean
}

/** Milliseconds after which a cell has failed. It is long, because a busy machine takes seconds to draw a page. */
export const patience = 120_000

/** Waits for what a person would wait for. */
export const until: (read: () => Promise<unknown>) => ReturnType<typeof expect.poll> = (read) =>
  expect.poll(read, { timeout: patience })

/** Presses with the mouse, or with Enter on an element that Tab reaches. A person who loses sight of it scrolls again. */
export async function act({ page, input }: Place, wanted: Target): Promise<void> {
  if (input === 'mouse') return press(page, wanted, { timeout: patience })
  await until(async () => {
    const target = typeof wanted === 'function' ? await wanted() : wanted
    if ((await target.count()) === 0) return 'it is not there'
    await intoView(target)
    await target.focus()
    return target.evaluate((element) => element === document.activeElement && (element as HTMLElement).tabIndex >= 0)
  }).toBe(true)
  await page.keyboard.press('Enter')
}

/** The element is there, and some of it is in the window with nothing over it. */
export async function seen(target: Locator): Promise<void> {
  await target.waitFor()
  await until(async () => {
    await intoView(target)
    return (await target.evaluateAll(isInSight)) === true
  }).toBe(true)
}

function isInSight([element]: readonly Element[]): boolean {
  if (element === undefined) return false
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const x = (Math.max(0, left) + Math.min(innerWidth, right)) / 2
  const [from, to] = [Math.max(0, top), Math.min(innerHeight, bottom)]
  return [0.1, 0.3, 0.5, 0.7, 0.9].some((part) =>
    element.contains(document.elementFromPoint(x, from + (to - from) * part)),
  )
}

const panelKeys = ['flow', 'state', 'proof', 'plan', 'wire', 'problems', 'usage', 'step'] as const

/** Opens a panel: with its key, or with the button of the inspector and the tab. */
export async function openPanel(place: Place, panel: (typeof panelKeys)[number]): Promise<Locator> {
  const { page, input } = place
  if (input === 'keyboard') await page.keyboard.press(String(panelKeys.indexOf(panel) + 1))
  else {
    if ((await page.locator('.inspector').count()) === 0)
      await press(page, page.getByRole('button', { name: 'Inspector (])' }))
    const tab = page.locator(`#tab-${panel}`)
    await tab.scrollIntoViewIfNeeded()
    await press(page, tab)
  }
  const shown = page.getByTestId(`panel-${panel}`)
  await shown.locator(':scope > :not(.panel-loading)').first().waitFor()
  return shown
}

/** On a narrow screen, shows the conversation again. */
export async function closePanes({ page, input, narrow }: Place): Promise<void> {
  const scrim = page.locator('.scrim')
  if (!narrow || (await scrim.count()) === 0) return
  if (input === 'mouse') await page.mouse.click(await beside(page), 20)
  else {
    const [key, isOpen] = [
      { inspector: ']', timeline: 't', sidebar: '[' },
      (name: string) => page.locator(name).count(),
    ]
    if ((await isOpen('.inspector')) > 0) await page.keyboard.press(key.inspector)
    else if ((await isOpen('.timeline-slot')) > 0) await page.keyboard.press(key.timeline)
    else await page.keyboard.press(key.sidebar)
  }
  await scrim.waitFor({ state: 'detached' })
}

/** A point at the top that no drawer covers. */
async function beside(page: Page): Promise<number> {
  return (page.viewportSize()?.width ?? 390) - 6
}

/** The timeline, which is a drawer on a narrow screen. */
export async function openTimeline(place: Place): Promise<void> {
  const { page, input } = place
  if ((await page.getByTestId('timeline').count()) > 0) return
  await closePanes(place)
  if (input === 'mouse') await press(page, page.getByRole('button', { name: 'Timeline (t)' }))
  else await page.keyboard.press('t')
  await page.getByTestId('scrubber').waitFor()
}

/** The list of sessions, which is a drawer on a narrow screen. */
export async function openList(place: Place): Promise<void> {
  const { page, input } = place
  if ((await page.getByTestId('session-list').count()) > 0) return
  await closePanes(place)
  if (input === 'mouse') await press(page, page.getByRole('button', { name: /Show the session list/ }))
  else await page.keyboard.press('[')
  await page.getByTestId('session-list').waitFor()
}

/** What was open is closed, nothing has the focus, and the cursor is where the cell wants it. */
export async function setOut(place: Place): Promise<void> {
  const { page, cursor, input } = place
  if (!page.url().includes(place.session)) {
    await page.goto(`${place.address}/s/${place.session}`)
    await page.getByTestId('status').waitFor()
    // A long session comes in pages: the end of its last run is there when all of it is.
    const { lastSeq } = (await (await fetch(`${place.address}/sessions/${place.session}`)).json()) as {
      lastSeq: number
    }
    await page
      .getByText(`event ${lastSeq.toLocaleString('en')}`, { exact: true })
      .first()
      .waitFor()
  }
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await page.mouse.move(2, 2)
  await page.keyboard.press('Escape')
  if ((await page.locator('dialog[open], .find-bar').count()) > 0) {
    await page.locator('dialog[open], .find-bar input').first().press('Escape')
    await page.keyboard.press('Escape')
  }
  await page.getByTestId('moment-bar').waitFor({ state: 'detached' })
  await drawn(page)
  if (cursor === 'latest') return
  await openTimeline(place)
  const scrubber = page.getByTestId('scrubber')
  if (input === 'mouse') {
    const box = await scrubber.boundingBox()
    if (box === null) throw new Error('there is no scrubber')
    await page.mouse.click(box.x + box.width * 0.8, box.y + box.height / 2)
  } else {
    await scrubber.focus()
    await page.keyboard.press('End')
    // In Chromium each of them is a tenth of the way.
    await page.keyboard.press('PageDown')
    await page.keyboard.press('PageDown')
  }
  await page.getByTestId('moment-bar').waitFor()
  await drawn(page)
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await closePanes(place)
}

/** The last element of those that are in sight and can be pressed: a list may continue out of sight. */
export async function reachable(all: Locator): Promise<Locator> {
  let index = -1
  await until(async () => {
    index = await all.evaluateAll((elements) =>
      elements.findLastIndex((element) => {
        const { left, top, width, height } = element.getBoundingClientRect()
        return element.contains(document.elementFromPoint(left + width / 2, top + height / 2))
      }),
    )
    return index
  }).toBeGreaterThanOrEqual(0)
  // The place in a list changes while it scrolls, and the seq of a frame does not.
  const seq = await all.nth(index).evaluate((element) => element.closest('[data-seq]')?.getAttribute('data-seq') ?? '')
  return seq === '' ? all.nth(index) : all.and(all.page().locator(`[data-seq="${seq}"] > *`)).first()
}
