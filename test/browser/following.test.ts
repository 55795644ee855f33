import { randomUUID } from 'node:crypto'
import type { Locator } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { gate } from '../kit/waiting.ts'
import { ask, studioTests } from './studio-page.ts'

let more: ReturnType<typeof gate>
beforeEach(() => {
  more = gate()
})

/** Says more than the window has room for, and something else once the test wants it to. */
const teller = scriptedAgent('teller', async function* () {
  for (let i = 1; i <= 60; i++) yield* speech('teller', `Line ${i} of a long story.`, { message: `m${i}` })
  await more.opened
  yield* speech('teller', 'And this is the end of it.', { message: 'last' })
})

/** Says so much that only what is seen is drawn. Its messages are not as high as their lengths suggest. */
const chronicle = scriptedAgent('chronicle', function* () {
  for (let i = 1; i <= 300; i++) {
    const lines = Array.from({ length: i % 7 }, (_, line) => `- item ${line}`).join('\n')
    yield* speech('chronicle', `Chapter ${i} of a long story.\n\n${lines}`, { message: `m${i}` })
  }
})

/** Its messages are higher than they are estimated to be, and so high that few of them fill the window. */
const essays = scriptedAgent('essays', function* () {
  for (let i = 1; i <= 140; i++) {
    const lines = Array.from({ length: 12 }, (_, line) => `- ${line} ${'word '.repeat(12)}`).join('\n')
    yield* speech('essays', `Essay ${i}\n\n${lines}`, { message: `m${i}` })
  }
})

const studio = studioTests(0, [teller, chronicle, essays])
const end = 'And this is the end of it.'

/** A session of this agent that has ended, at the end of its list. */
async function atEnd(agent: string, last: string) {
  const session = await studio.run(agent, 'Tell me')
  const { page } = await studio.open(`/s/${session}`, { viewport: { width: 1440, height: 900 } })
  const list = page.locator('.block-scroller')
  const left = (): Promise<number> => leftBelow(list)
  await page.getByText(last).waitFor()
  await expect.poll(left).toBeLessThan(2)
  return { page, list, left }
}

/** Pixels between what is seen and the end of the list. */
const leftBelow = (list: Locator): Promise<number> =>
  list.evaluate((each) => each.scrollHeight - each.clientHeight - each.scrollTop)

/** Turns the wheel up, and expects to be as far above the end then. */
async function turnUp(
  { page, left }: Pick<Awaited<ReturnType<typeof atEnd>>, 'page' | 'left'>,
  up: number,
): Promise<void> {
  await page.mouse.wheel(0, -up)
  await page.getByTestId('jump-to-latest').waitFor()
  await page.locator('.row.placed').first().waitFor()
  await expect.poll(async () => Math.abs((await left()) - up)).toBeLessThan(8)
}

test('the list follows what is new', async () => {
  const tab = await studio.open()
  await ask(tab, 'teller', 'Tell me')
  const { page } = tab
  await page.getByText('Line 60 of').waitFor()
  more.open()
  await page.getByTestId('message-complete').waitFor()
  const list = page.locator('.block-scroller')
  await expect.poll(() => leftBelow(list)).toBeLessThan(2)
  expect(await page.getByTestId('jump-to-latest').count()).toBe(0)
})

test('what is new does not undo a scroll whose event has not come yet', async () => {
  const tab = await studio.open()
  await ask(tab, 'teller', 'Tell me')
  const { page } = tab
  await page.getByText('Line 60 of').waitFor()
  const list = page.locator('.block-scroller')
  await expect.poll(() => list.evaluate((each) => each.scrollTop)).toBeGreaterThan(400)
  // The browser tells a scroll with the next frame, which may come after a message has been drawn. Here it never comes.
  await page.evaluate(() => addEventListener('scroll', (event) => event.stopImmediatePropagation(), true))
  await list.evaluate((each) => {
    each.scrollTop = 0
  })
  more.open()
  await page.getByTestId('jump-to-latest').waitFor()
  await page.getByTestId('message-complete').waitFor()
  expect(await list.evaluate((each) => each.scrollTop)).toBe(0)
  await page.getByTestId('jump-to-latest').click()
  await page.getByText(end).waitFor()
})

test.each([300, 900, 4000])('a long list stays where the reader scrolls to, %i pixels above its end', async (up) => {
  const { page, list, left } = await atEnd('chronicle', 'Chapter 300 of')
  await expect.poll(() => page.locator('.row').count()).toBeLessThan(120)
  const mark = randomUUID()
  const before = await list.evaluate(
    (each, { up, mark }) => {
      each.scrollTop -= up
      const { top, bottom } = each.getBoundingClientRect()
      // A row in the middle of the window: of a scroll that went further than the rows that are drawn, there is none.
      const row = [...each.querySelectorAll('.row')].find((one) => one.getBoundingClientRect().top > (top + bottom) / 2)
      const button = row?.querySelector('button')
      button?.setAttribute('data-mark', mark)
      button?.focus({ preventScroll: true })
      return button?.getBoundingClientRect().top
    },
    { up, mark },
  )
  await page.getByTestId('jump-to-latest').waitFor()
  await page.locator('.row.placed').first().waitFor()
  const now = await left()
  expect(Math.abs(now - up), `${now} pixels above the end`).toBeLessThan(up < 1000 ? 20 : 1500)
  expect(await page.getByTestId('jump-to-latest').count()).toBe(1)
  if (up > 1000) return
  // The row is the same element, at the same place, and has the focus.
  const after = await page.evaluate((mark) => {
    const button = document.activeElement
    return button?.getAttribute('data-mark') === mark ? button.getBoundingClientRect().top : undefined
  }, mark)
  expect(Math.abs((after ?? 0) - (before ?? -1000))).toBeLessThan(8)
})

test('the wheel leaves the end by as much as it turns, and comes back', async () => {
  const place = await atEnd('chronicle', 'Chapter 300 of')
  const { page, list, left } = place
  await list.hover()
  for (const up of [40, 700, 40]) {
    await turnUp(place, up)
    await page.mouse.wheel(0, up)
    await page.getByTestId('jump-to-latest').waitFor({ state: 'detached' })
    await expect.poll(left).toBeLessThan(2)
  }
})

test('a list of long messages stays where the reader scrolls to', async () => {
  const place = await atEnd('essays', 'Essay 140')
  const { page, list, left } = place
  await list.hover()
  for (const up of [40, 200, 1000]) {
    await turnUp(place, up)
    await page.getByTestId('jump-to-latest').click()
    await page.getByTestId('jump-to-latest').waitFor({ state: 'detached' })
    await expect.poll(left).toBeLessThan(2)
    await list.hover()
  }
})

test('a search does not pull back a reader who has gone on from its match', async () => {
  const { page, list, left } = await atEnd('chronicle', 'Chapter 300 of')
  await page.keyboard.press('Control+f')
  await page.getByTestId('find-input').fill('Chapter 20 of')
  await page.getByText('Chapter 20 of').waitFor()
  await page.getByTestId('jump-to-latest').click()
  await page.getByText('Chapter 300 of').waitFor()
  await list.hover()
  await page.mouse.wheel(0, -400)
  await page.locator('.row.placed').first().waitFor()
  // Two frames later, a search that went back to its match would have arrived.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  expect(await left()).toBeLessThan(1000)
})

test('a message of many lines is written while the list follows a run', async () => {
  const tab = await studio.open()
  await ask(tab, 'teller', 'Tell me')
  const { page } = tab
  await page.getByText('Line 60 of').waitFor()
  const field = page.getByTestId('chat-input')
  await field.focus()
  for (const word of ['one', 'two', 'three', 'four', 'five', 'six']) {
    await page.keyboard.type(word)
    await page.keyboard.press('Shift+Enter')
  }
  const heights = await field.evaluate((each) => [each.clientHeight, each.scrollHeight])
  expect(heights[0]).toBeGreaterThan(120)
  expect(heights[0]).toBe(heights[1])
  expect(await page.getByTestId('jump-to-latest').count()).toBe(0)
  more.open()
  await page.getByText(end).waitFor()
  await page.getByTestId('message-complete').waitFor()
  const list = page.locator('.block-scroller')
  await expect.poll(() => leftBelow(list)).toBeLessThan(2)
})
