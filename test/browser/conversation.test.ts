import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, openStudio, type Studio } from './studio-page.ts'

let studio: Studio
beforeAll(async () => {
  studio = await openStudio(200)
})
afterAll(() => studio.close())

test('specialists that work at the same time stand side by side, each under its name', async () => {
  const tab = await studio.open()
  await ask(tab, 'recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  await tab.page.getByTestId('lanes').waitFor()
  await tab.shot('parallel')
  await tab.page.getByTestId('message-complete').waitFor()
  const authors = await tab.page.getByTestId('message-author').allTextContents()
  for (const name of ['coordinator', 'burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor']) {
    expect(authors).toContain(name)
  }
  await tab.shot('briefing')
  expect(tab.noise).toEqual([])
})

test('a page that is loaded again in the middle of a run joins it and loses nothing', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Count slowly to 200')
  await tab.page.getByText('19 20', { exact: false }).first().waitFor()
  await tab.page.reload()
  await tab.page.getByTestId('message-complete').waitFor()
  const said = await tab.page.locator('.markdown').last().textContent()
  const numbers = (said?.match(/\d+/g) ?? []).map(Number)
  expect(numbers.slice(0, 200)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
  expect(tab.noise).toEqual([])
})

test('stop ends the run, and the page says so', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Count slowly to 200')
  await tab.page.getByText('2 3', { exact: false }).first().waitFor()
  await tab.page.getByTestId('stop-button').click()
  await tab.page.getByTestId('message-complete').waitFor()
  expect(await tab.page.getByTestId('status').textContent()).toBe('stopped')
  await tab.page.getByTestId('send-button').waitFor()
  expect(tab.noise).toEqual([])
})

test.each([
  ['approve', 'interrupt-approve', 'approved'],
  ['reject', 'interrupt-reject', 'rejected'],
])('a question is answered on the page: %s', async (name, button, answer) => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Delete all proverbs')
  await tab.page.getByTestId(button).waitFor()
  expect(await tab.page.getByTestId('status').textContent()).toBe('waiting for you')
  await tab.shot(`interrupt-${name}`)
  await tab.page.getByTestId(button).click()
  await tab.page.getByTestId('message-complete').nth(1).waitFor()
  expect(await tab.page.getByTestId('interrupt-answer').textContent()).toBe(answer)
  expect(await tab.page.getByTestId('status').textContent()).toBe('ended')
  expect(tab.noise).toEqual([])
})

test('a run that fails says why', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Simulate a model failure')
  await tab.page.getByTestId('run-error').waitFor()
  expect(await tab.page.getByTestId('status').textContent()).toBe('failed')
  await tab.shot('failed')
  expect(tab.noise).toEqual([])
})

test('an edited message runs in a fork; what was recorded stays', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Hello')
  await tab.page.getByTestId('message-complete').waitFor()
  const first = tab.page.url()
  await tab.page.getByTestId('edit-message').click()
  await tab.page.getByLabel('Edit the message').fill('What is 17 * 23?')
  await tab.page.getByRole('button', { name: 'Run in a fork' }).click()
  await tab.page.waitForURL((url) => url.href !== first)
  await tab.page.getByText('17 * 23 = 391').first().waitFor()
  await tab.page.goto(first)
  await tab.page.getByTestId('message-complete').waitFor()
  expect(await tab.page.locator('.bubble').allTextContents()).toEqual(['Hello'])
  expect(tab.noise).toEqual([])
})
