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

const studio = studioTests(0, [teller])
const end = 'And this is the end of it.'

test('the list follows what is new', async () => {
  const tab = await studio.open()
  await ask(tab, 'teller', 'Tell me')
  const { page } = tab
  await page.getByText('Line 60 of').waitFor()
  more.open()
  await page.getByTestId('message-complete').waitFor()
  const list = page.locator('.block-scroller')
  await expect
    .poll(() => list.evaluate((each) => each.scrollHeight - each.clientHeight - each.scrollTop))
    .toBeLessThan(2)
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
