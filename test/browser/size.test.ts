import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteLog, sqliteLog } from '@millrace/server'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { repeatedSession } from './long-session.ts'
import { drawn, press, pressKey } from './pointer.ts'
import { studioTests } from './studio-page.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-size-'))
let log: SqliteLog
const studio = studioTests(0, [], async () => {
  log = await sqliteLog({ folder, now: Date.now })
  return log
})
afterAll(async () => {
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

const wide = { viewport: { width: 1440, height: 900 } }
/** A hundred thousand events in the whole form. The small one has three runs: enough that a run is not the session. */
const events = full ? 100_000 : 3400
let long: string
let imported: string
let runs: number

beforeAll(async () => {
  long = await repeatedSession(
    studio,
    await studio.run('recovery', 'Give me a recovery briefing for Cedar Creek Fire'),
    events,
  )
  imported = await studio.bring('adk', 'javascript-flavour')
  runs = (await studio.app.inject(`/sessions/${long}`)).json().runs
})

async function open(path: string): Promise<Page> {
  const { page } = await studio.open(path, wide)
  await page.locator('.reading').waitFor({ state: 'detached' })
  return page
}
/**
 * How many loops of twenty million turns the longest task may take. With the code of the page in Chromium's cache it takes
 * up to 10; a Chromium that has never seen the page takes 16 to 19, most of it for compiling. All rows in one task take hundreds.
 */
const longestTask = 25
const textOf = async (page: Page, id: string): Promise<string> => (await page.getByTestId(id).textContent()) ?? ''
const stepOf = (page: Page): Promise<string | null> => page.getByTestId('step').getAttribute('data-step')

/** Whether the server's search finds the text in the long session. */
async function isFound(text: string): Promise<boolean> {
  const answer = await studio.app.inject(`/search?q=${encodeURIComponent(text)}`)
  const { found } = answer.json<{ found: readonly { readonly session: string }[] }>()
  return found.some(({ session }) => session === long)
}

const expectFound = (page: Page, count: string): Promise<void> =>
  expect.poll(() => textOf(page, 'find-bar')).toContain(count)

/** Scrubs to the middle with the mouse. */
async function toTheMiddle(page: Page): Promise<void> {
  const { x, y, width, height } = (await page.getByTestId('scrubber').boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  }
  const before = await page.getByTestId('scrubber').inputValue()
  await page.mouse.click(x + width / 2, y + height / 2)
  await expect.poll(() => page.getByTestId('scrubber').inputValue()).not.toBe(before)
  await page.getByTestId('moment-bar').waitFor()
  await drawn(page)
}

function isInWindow(element: Element): boolean {
  const { left, top, width, height } = element.getBoundingClientRect()
  return element.contains(document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20)))
}

test('a long session: flow, waterfall, inspector and wire lead to a step, live and at a scrubbed cursor', async () => {
  const page = await open(`/s/${long}?panel=flow`)
  const node = page.getByTestId('flow-node').filter({ hasText: 'burn_analyst' })
  await expect.poll(() => node.textContent()).toContain(`${runs}×`)
  await press(page, node)
  await expect.poll(() => stepOf(page)).toMatch(/burn_analyst/)
  const before = await stepOf(page)
  await page.keyboard.press('k')
  await expect.poll(() => stepOf(page)).not.toBe(before)
  await page.keyboard.press('j')
  await expect.poll(() => stepOf(page)).toBe(before)
  await page.keyboard.press('Escape')
  // The labels of the axis are free: nothing else is drawn where they are.
  const labels = page.locator('.axis .tick')
  await expect.poll(() => labels.filter({ hasText: /\d/ }).count()).toBeGreaterThan(1)
  await toTheMiddle(page)
  // So many runs are bands until the person zooms in.
  while ((await page.getByTestId('bar-agent').count()) === 0)
    await press(page, page.getByRole('button', { name: 'Zoom in' }))
  const bar = page.locator('.bar.of-agent[data-testid="bar-agent"]')
  let visible = -1
  const look = async (): Promise<number> => {
    visible = await bar.evaluateAll((bars) =>
      bars.findIndex((each) => {
        const { left, top, width, height } = each.getBoundingClientRect()
        return each.contains(document.elementFromPoint(left + width / 2, top + height / 2))
      }),
    )
    return visible
  }
  await expect.poll(look).toBeGreaterThanOrEqual(0)
  await press(page, bar.nth(visible))
  await expect.poll(() => stepOf(page)).toMatch(/^node /)
  await pressKey(page, bar.nth(visible))
  await expect.poll(() => stepOf(page)).toMatch(/^node /)
  await page.keyboard.press('5')
  const current = page.locator('.frame.current').last()
  await current.waitFor()
  // The frames come a page at a time.
  const wanted = await page.getByTestId('scrubber').inputValue()
  await expect.poll(() => current.getAttribute('data-seq')).toBe(wanted)
})

/** The processor times of the tasks of the page while `act` runs, the longest first. A busy machine does not change them. */
async function tasksOf(page: Page, act: () => Promise<unknown>): Promise<readonly number[]> {
  const browser = page.context().browser()
  if (browser === null) throw new Error('the page has no browser')
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
  await act()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: readonly TraceEvent[] }
  const own = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const threads = new Set(own.map(({ pid, tid }) => `${pid} ${tid}`))
  return traceEvents
    .filter(({ name, pid, tid }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur)
    .sort((a, b) => b - a)
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of processor time. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

function loop(): number {
  let sum = 0
  for (let i = 0; i < 20_000_000; i++) sum += i % 7
  return sum
}

test('a long session is opened in short tasks, so that the page answers meanwhile', async () => {
  const { page } = await studio.empty(wide)
  const tasks = await tasksOf(page, async () => {
    await page.goto(`${studio.address}/s/${long}`)
    await page.getByTestId('message-complete').last().waitFor()
  })
  const [calibration = 0] = await tasksOf(page, () => page.evaluate(loop))
  expect(calibration).toBeGreaterThan(0)
  const [longest = 0] = tasks
  expect(longest).toBeGreaterThan(0)
  expect(longest / calibration).toBeLessThan(longestTask)
})

test('a long session: a figure of the last answer and of one in the middle leads to its results', async () => {
  const page = await open(`/s/${long}?panel=proof`)
  const why = page.getByTestId('why')
  const figure = why.locator('.figure.held', { hasText: '127,311' })
  await press(page, figure)
  await why.getByTestId('why-place').first().waitFor()
  expect(await why.locator('.figure.unheld').count()).toBe(0)
  // The cards that light up are scrolled away: the bar counts them, and leads to each.
  const bar = page.getByTestId('lit-bar')
  await bar.waitFor()
  const cards = Number(/^([\d,]+) cards? hold/.exec(await textOf(page, 'lit-bar'))?.[1]?.replaceAll(',', ''))
  expect(cards).toBeGreaterThan(1)
  await page.getByTestId('lit-marks').waitFor()
  await press(page, page.getByTestId('lit-next'))
  await expect.poll(() => textOf(page, 'lit-bar')).toContain('Card 1 of ')
  const card = page.locator('.lit-now')
  await expect.poll(() => card.count()).toBe(1)
  await expect.poll(() => card.evaluate(isInWindow)).toBe(true)
  const first = await card.evaluate((element) => element.closest('[data-key]')?.getAttribute('data-key'))
  await press(page, page.getByTestId('lit-previous'))
  await expect.poll(() => textOf(page, 'lit-bar')).toContain(`Card ${cards.toLocaleString('en')} of `)
  await expect
    .poll(() => card.evaluateAll(([element]) => element?.closest('[data-key]')?.getAttribute('data-key') ?? null))
    .not.toBe(first)
  await expect.poll(() => card.evaluate(isInWindow)).toBe(true)
  await press(page, why.getByTestId('why-show').first())
  await expect.poll(() => card.evaluate(isInWindow)).toBe(true)
  // The place leads to its event.
  await press(page, why.getByTestId('why-place').first().locator('.seq-link'))
  await page.getByTestId('moment-bar').waitFor()
  await toTheMiddle(page)
  await figure.waitFor()
  await pressKey(page, figure)
  await why.getByTestId('why-place').first().waitFor()
  expect(await page.getByTestId('moment-bar').count()).toBe(1)
})

/** ⌘F to the first question, and back round to the last one. */
async function findLastQuestion(page: Page): Promise<void> {
  await page.keyboard.press('Control+f')
  await page.keyboard.type('Give me a recovery')
  await expectFound(page, `1 of ${runs}`)
  await page.keyboard.press('Shift+Enter')
  await expectFound(page, `${runs} of ${runs}`)
}

test('a long session is searched by ⌘K and by ⌘F, with the mouse and with the keyboard', async () => {
  // The index is made behind the import.
  await expect.poll(() => isFound('hazard zones')).toBe(true)
  const page = await open('/')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('hazard zones')
  const group = page.getByRole('group', { name: 'A long session' })
  await press(page, group.getByTestId('palette-option').first())
  await page.waitForURL(new RegExp(`/s/${long}.*at=\\d+`))
  await page.getByTestId('moment-bar').waitFor()
  await page.keyboard.press('Escape')
  await page.getByTestId('message-complete').last().waitFor()
  await findLastQuestion(page)
  await press(page, page.getByRole('button', { name: 'Next (Enter)' }))
  await expectFound(page, `1 of ${runs}`)
  await page.locator('.bubble').first().waitFor()
  await page.getByTestId('find-input').press('Escape')
  await press(page, page.getByTestId('show-filters'))
  await page.getByTestId('filter-agent').selectOption('recovery')
  await page.getByTestId(`session-${imported}`).waitFor({ state: 'detached' })
  await page.getByTestId(`session-${long}`).waitFor()
})

test('a long session runs on from its last message, and what is identical is folded in the comparison', async () => {
  const page = await open(`/s/${long}`)
  await page.getByTestId('message-complete').last().waitFor()
  await findLastQuestion(page)
  await page.getByTestId('find-input').press('Escape')
  const edit = page.getByTestId('edit-message').last()
  await pressKey(page, edit)
  await page.getByTestId('change-sheet').waitFor()
  await expect.poll(() => textOf(page, 'change-plan')).toContain('Earlier runs stay as they are.')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('How severe was the Cedar Creek burn?')
  await press(page, page.getByTestId('change-run'))
  await page.getByTestId('compare').waitFor()
  await expect.poll(() => page.locator('.figures tr').first().textContent()).toBe('Outcomedonedone')
  expect(await textOf(page, 'divergence')).toMatch(/First difference: your (third|\d+\w\w) message/)
  expect(await page.locator('.pair').count()).toBeLessThan(70)
  const folded = page.getByTestId('pairs-folded').first()
  const hidden = (await folded.textContent()) ?? ''
  await folded.scrollIntoViewIfNeeded()
  await press(page, folded)
  await expect.poll(async () => ((await folded.count()) === 0 ? '' : await folded.textContent())).not.toBe(hidden)
  await press(page, page.getByRole('button', { name: 'Close' }))
  await page.getByTestId('message-complete').last().waitFor()
})

test('the runs of a long session are a table that says how many it leaves out', async () => {
  const page = await open(`/s/${long}`)
  await press(page, page.getByTestId('compare-link').last())
  await expect.poll(() => page.getByTestId('runs-row').count()).toBe(Math.min(runs, 20))
  expect(await page.getByText('The newest 20 of').count()).toBe(runs > 20 ? 1 : 0)
  const names = page.getByTestId('runs-table').locator('tbody th button')
  const [side, text] = await names.first().evaluate((name) => {
    const range = document.createRange()
    range.selectNodeContents(name)
    return [name.getBoundingClientRect().left, Math.max(...[...range.getClientRects()].map(({ left }) => left))]
  })
  expect(text).toBeLessThan((side ?? 0) + 2)
})

test('a reader at the end of a long conversation goes to its beginning with one key, and stays there', async () => {
  // So many short runs that only the rows on the screen are in the page.
  const many = await repeatedSession(studio, await studio.run('assistant', 'Hello'), 1500)
  const page = await open(`/s/${many}`)
  await page.getByTestId('message-complete').last().waitFor()
  const { lastSeq } = (await studio.app.inject(`/sessions/${many}`)).json<{ lastSeq: number }>()
  await page.getByText(`event ${lastSeq.toLocaleString('en')}`, { exact: true }).waitFor()
  // A screen reader hears the number as it is written below the timeline.
  await expect
    .poll(() => page.getByTestId('scrubber').getAttribute('aria-valuetext'))
    .toBe(`latest, event ${lastSeq.toLocaleString('en')}`)
  const scroller = page.locator('.block-scroller')
  await scroller.focus()
  const top = (): Promise<number> => scroller.evaluate((element) => element.scrollTop)
  expect(await top()).toBeGreaterThan(5000)
  await page.keyboard.press('Home')
  await expect.poll(top).toBeLessThan(200)
  await page.locator('.placed[data-index="0"]').waitFor()
  expect(await top()).toBeLessThan(200)
})

test('a search that comes after a comparison goes to its match, also from the end of the conversation', async () => {
  const page = await open(`/s/${long}?compare=${imported}`)
  await page.getByTestId('divergence').waitFor()
  await press(page, page.getByRole('button', { name: 'Close' }))
  await page.getByTestId('message-complete').last().waitFor()
  await page.keyboard.press('Control+f')
  // Each run ends with a sentence of the answer: the last match is at the very end.
  await page.keyboard.type('Cedar Creek')
  await expectFound(page, '1 of ')
  const inSight = (): Promise<boolean> =>
    page.evaluate(() => {
      const [range] = [...(CSS.highlights.get('found-now') ?? [])] as Range[]
      const { left, top } = range?.getBoundingClientRect() ?? { left: -1, top: -1 }
      return document.elementFromPoint(left + 2, top + 4)?.closest('.block-scroller') != null
    })
  await expect.poll(inSight).toBe(true)
  await page.keyboard.press('Shift+Enter')
  await expect.poll(inSight).toBe(true)
  // To the very end by hand, where the list would follow the newest row again.
  await page.locator('.block-scroller').evaluate((list) => list.scrollTo(0, list.scrollHeight))
  await page.keyboard.press('Enter')
  await expectFound(page, '1 of ')
  await expect.poll(inSight).toBe(true)
})

test('an imported recording offers no field to write in, also before the agents are known', async () => {
  const { page } = await studio.empty(wide)
  let release = (): void => {}
  const known = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/agents', async (route) => {
    await known
    await route.continue()
  })
  await page.goto(`${studio.address}/s/${imported}`)
  await page.getByTestId('message-complete').waitFor()
  expect(await page.getByTestId('chat-input').count()).toBe(0)
  release()
  await page.getByTestId('read-only').waitFor()
})

test('a link to a panel opens it on a tablet', async () => {
  const { page } = await studio.open(`/s/${imported}?panel=usage`, { viewport: { width: 768, height: 1024 } })
  await page.getByTestId('panel-usage').waitFor()
})

test('an imported recording is read, searched and compared; nothing can be sent, and running on says why not', async () => {
  const page = await open(`/s/${imported}?panel=flow`)
  await page.getByTestId('message-complete').waitFor()
  // The page knows that the agent is not here once it has the list of agents.
  await page.getByTestId('read-only').waitFor()
  for (const gone of ['chat-input', 'send-button', 'retry', 'edit-message'])
    expect(await page.getByTestId(gone).count(), gone).toBe(0)
  await press(page, page.getByTestId('flow-node').first())
  await expect.poll(() => stepOf(page)).toMatch(/^node /)
  await press(page, page.getByTestId('bar-agent').first())
  await page.getByTestId('step-state').waitFor()
  await pressKey(page, page.getByTestId('step-state').getByTestId('edit-state'))
  await expect.poll(() => textOf(page, 'change-plan')).toContain('Not possible: the server has no agent')
  expect(await page.getByTestId('change-run').isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await page.getByTestId('change-sheet').waitFor({ state: 'hidden' })
  await page.keyboard.press('5')
  await press(page, page.getByTestId('wire-frame').last())
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+f')
  await page.keyboard.type('check')
  await expectFound(page, '1 of 1')
  await page.getByTestId('find-input').press('Escape')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('check')
  await press(page, page.getByTestId('palette-option').filter({ hasText: 'Let me check.' }))
  await page.getByTestId('palette').waitFor({ state: 'hidden' })
  await toTheMiddle(page)
  // The scrubber has the focus now; the keys of the page work nevertheless.
  for (const [i, panel] of ['flow', 'state', 'proof', 'plan', 'wire', 'problems', 'usage', 'step'].entries()) {
    await page.keyboard.press(String(i + 1))
    await page.waitForURL((url) => url.searchParams.get('panel') === panel || panel === 'flow')
    await page.locator('.inspector [role="tabpanel"] > :not(.panel-loading)').first().waitFor()
  }
  await page.keyboard.press('Escape')
  await page.getByTestId('moment-bar').waitFor({ state: 'detached' })
  await page.goto(`${studio.address}/s/${imported}?compare=${long}`)
  await page.getByTestId('divergence').waitFor()
})
