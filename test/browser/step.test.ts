import { webHost } from '@millrace/core'
import { type Agent, discoverAgents, remoteAgent } from '@millrace/server'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { press } from './pointer.ts'
import { studioTests, type Tab } from './studio-page.ts'

/** The assistant of another server, over ADK. Its address is known once that server listens. */
let elsewhere: Awaited<ReturnType<typeof testServer>> | undefined
let remote: Agent | undefined
const far = scriptedAgent('far', (input, context) => remote?.run(input, context) ?? [], { engine: 'remote' })
const studio = studioTests(0, [far])
const wide = { viewport: { width: 1440, height: 900 } }
let chat: string
let imported: string

beforeAll(async () => {
  chat = await studio.run('assistant', 'What is the weather in Lisbon?')
  imported = await studio.bring('adk', 'javascript-flavour')
  const assistant = discoverAgents(exampleAgents, { models: { tokensPerSecond: 0 } }).agents.get('assistant')
  if (assistant === undefined) throw new Error('the examples have no assistant')
  elsewhere = await testServer({ with: [assistant] })
  const url = await elsewhere.app.listen({ port: 0, host: '127.0.0.1' })
  remote = remoteAgent('far', { url, dialect: 'adk', app: 'assistant' }, webHost(globalThis))
})
afterAll(() => elsewhere?.close(0))

const stepOf = (page: Page): Promise<string | null> => page.getByTestId('step').getAttribute('data-step')

async function openChat(colorScheme: 'light' | 'dark'): Promise<Tab> {
  return studio.open(`/s/${chat}`, { ...wide, colorScheme })
}

test.each(['light', 'dark'] as const)('a click on a message opens its model call, in %s', async (scheme) => {
  const tab = await openChat(scheme)
  const { page } = tab
  await press(page, page.getByTestId('message-step').last())
  await page.getByTestId('step').waitFor()
  expect(await stepOf(page)).toMatch(/^call /)
  const prompt = page.getByTestId('step-prompt')
  await prompt.getByText('What is the weather in Lisbon?').first().waitFor()
  const answer = (await page.getByTestId('step-response').textContent()) ?? ''
  expect(answer).toContain('Lisbon')
  const figures = (await page.getByTestId('step-figures').textContent()) ?? ''
  for (const name of ['Duration', 'First token', 'Tokens in', 'Tokens out']) expect(figures).toContain(name)
  await press(page, prompt.getByText('Difference'))
  await page.getByTestId('step-difference').locator('.added').first().waitFor()
  await press(page, prompt.getByText('Raw'))
  await prompt.getByText('"contents"').waitFor()
  await tab.shot(`step-${scheme}`)
})

test('a tool, a bar, a node and a frame open their steps, and j and k walk', async () => {
  const { page } = await openChat('light')
  await press(page, page.getByTestId('status-function-call').locator('summary').first())
  await press(page, page.getByTestId('open-step').first())
  await page.getByTestId('step-arguments').getByText('Lisbon').waitFor()
  await page.getByTestId('step-result').waitFor()
  const tool = await stepOf(page)
  await page.keyboard.press('j')
  await expect.poll(() => stepOf(page)).not.toBe(tool)
  await page.getByTestId('step-prompt').waitFor()
  await page.keyboard.press('k')
  await expect.poll(() => stepOf(page)).toBe(tool)
  await press(page, page.getByTestId('bar-agent').first())
  await expect.poll(() => stepOf(page)).toMatch(/^node /)
  await press(page, page.getByTestId('step-call').first())
  await expect.poll(() => stepOf(page)).toMatch(/^call /)
})

test('a recording without prompts says so, and shows what it has', async () => {
  const { page } = await studio.open(`/s/${imported}`, wide)
  await press(page, page.getByTestId('bar-agent').first())
  await page.getByTestId('step-no-prompt').waitFor()
  expect(await page.getByTestId('step-figures').textContent()).toContain('Duration')
  await press(page, page.getByTestId('step-frames').locator('summary'))
  await page.getByTestId('step-frames').getByText('"kind":"agent"').first().waitFor()
})

test('keys that come faster than the panel is drawn lose no step', async () => {
  const { page } = await openChat('light')
  await press(page, page.getByTestId('bar-model').last())
  await page.getByTestId('step').waitFor()
  const place = async (): Promise<number> =>
    Number.parseInt((await page.locator('.step-head .number').textContent()) ?? '', 10)
  const last = await place()
  expect(last).toBeGreaterThan(3)
  for (let i = 1; i < last; i++) await page.keyboard.press('k')
  await expect.poll(place).toBe(1)
  for (let i = 1; i < last; i++) await page.keyboard.press('j')
  await expect.poll(place).toBe(last)
})

test('a model call of another server has the same figures wherever it is shown, and says what is not known', async () => {
  const session = await studio.run('far', 'What is the weather in Lisbon?')
  const { page } = await studio.open(`/s/${session}`, wide)
  const bar = page.getByTestId('bar-model').last()
  const label = (await bar.getAttribute('aria-label')) ?? ''
  await press(page, bar)
  await page.getByTestId('step-no-prompt').getByText('does not send the prompt').waitFor()
  await page.getByTestId('step-arrival').waitFor()
  await page.getByTestId('step-response').getByText('Lisbon').first().waitFor()
  const figure = async (name: string): Promise<string> =>
    (await page.getByTestId('step-figures').locator('div', { hasText: name }).locator('dd').first().textContent()) ?? ''
  expect(label.split(', ')).toContain(await figure('Duration'))
  await bar.hover()
  await page.getByText('on arrival: another server made this call').waitFor()
  await page.getByRole('tab', { name: 'Usage' }).click()
  const used = page.getByRole('region', { name: 'Usage' })
  await used.getByText('Model calls').waitFor()
  const tile = (name: string): Promise<string | null> =>
    used.locator('.totals div', { hasText: name }).locator('dd').textContent()
  const models = page.getByTestId('usage-models').locator('td')
  expect([await tile('Model calls'), await models.nth(2).textContent()]).toEqual(['2', '2'])
})

test('a click on the bar of a call opens that call, also where others run beside it', async () => {
  const session = await studio.run('recovery', 'Brief me on the Cedar Creek fire')
  const { page } = await studio.open(`/s/${session}`, wide)
  await page.getByTestId('bar-agent').first().waitFor()
  const calls = page.getByTestId('timeline-calls')
  if ((await calls.getAttribute('aria-pressed')) === 'false') await press(page, calls)
  // While the session is read, the bars become narrower, and some of them one band.
  await page
    .getByTestId('bar-run')
    .and(page.getByRole('button', { name: ', done' }))
    .waitFor()
  const bars = page.getByTestId('bar-model')
  const names = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label') ?? ''))
  expect(names.length).toBeGreaterThan(3)
  for (const name of names.slice(0, 6)) {
    const start = /events (\d+) to/.exec(name)?.[1]
    if (start === undefined) throw new Error(`The bar "${name}" does not tell its events.`)
    await press(page, page.getByRole('button', { name, exact: true }))
    const events = page.getByTestId('step').locator('h3', { hasText: 'Events' })
    await expect.poll(() => events.locator('button').first().textContent()).toContain(start)
  }
})

test('where agents work side by side, each message opens the step of its own agent', async () => {
  const session = await studio.run('recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  const { page } = await studio.open(`/s/${session}`, wide)
  const lanes = page.getByTestId('lanes').first().locator('.lane')
  await lanes.nth(3).waitFor()
  const agents = await page.getByTestId('lanes').first().locator('.lane > header h3').allTextContents()
  expect(agents).toHaveLength(4)
  const opened = page.locator('.step-head h2')
  for (const [i, agent] of agents.entries()) {
    await press(page, lanes.nth(i).getByTestId('message-step').last())
    await expect.poll(() => opened.textContent()).toContain(`${agent} →`)
  }
})
