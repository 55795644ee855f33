import { mkdirSync } from 'node:fs'
import { discoverAgents } from '@millrace/server'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testServer } from '../server.ts'
import { loadVectors, wireText } from '../vectors.ts'
import { launchChromium } from './chromium.ts'

const folder = (path: string): string => new URL(path, import.meta.url).pathname
const shots = folder('../../test-results/')
const { app, close } = await testServer({
  page: folder('../../packages/cli/page/'),
  agents: discoverAgents(folder('../../agents/'), { models: { tokensPerSecond: 0 } }),
})
let browser: Browser
let address: string
let tab: Page
const errors: string[] = []

beforeAll(async () => {
  mkdirSync(shots, { recursive: true })
  browser = await launchChromium()
  address = await app.listen({ port: 0, host: '127.0.0.1' })
  tab = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  tab.on('pageerror', (error) => errors.push(error.message))
  tab.on('console', (message) => ['error', 'warning'].includes(message.type()) && errors.push(message.text()))
  await say('s1', 'recovery', 'Prepare a recovery briefing for the Cedar Creek fire')
})
afterAll(async () => {
  await browser?.close()
  await close(0)
})

/** A recorded stream of another system, as a session of its own. */
async function bring(name: string): Promise<string> {
  const vector = loadVectors('studio').find((each) => each.name === name)
  const answer = await app.inject({
    method: 'POST',
    url: '/sessions/import?dialect=studio',
    headers: { 'content-type': 'text/event-stream' },
    payload: wireText(vector!.wire),
  })
  return answer.json().id
}

/** A run through the same door as the page's own, waited for until it is over. */
async function say(session: string, agent: string, text: string): Promise<void> {
  await app.inject({ method: 'POST', url: '/sessions', payload: { id: session, agent, title: text } })
  const content = { role: 'user', parts: [{ text }] }
  const input = { messages: [{ id: `${session}-m`, role: 'user', content }] }
  await app.inject({ method: 'POST', url: `/sessions/${session}/runs`, payload: { agent, input } })
  const standing = async (): Promise<string> => (await app.inject(`/sessions/${session}`)).json().run
  await vi.waitUntil(async () => (await standing()) !== 'running', { timeout: 60_000, interval: 100 })
}

async function open(panel: string, session = 's1', at?: number): Promise<void> {
  await tab.goto(`${address}/s/${session}?panel=${panel}${at === undefined ? '' : `&at=${at}`}`)
  await tab.getByTestId(`panel-${panel}`).waitFor()
}
const shot = (name: string) => tab.screenshot({ path: `${shots}panel-${name}.png` })

test('timeline: a bar for every execution, and the scrubber moves the page', async () => {
  await open('flow')
  const bars = tab.getByTestId('timeline').locator('.bar')
  await bars.first().waitFor()
  expect(await bars.count()).toBeGreaterThanOrEqual(5)
  await tab.getByTestId('scrubber').fill('20')
  await tab.getByTestId('moment-bar').waitFor()
  expect(await tab.getByTestId('timeline').getByTestId('bar-now').count()).toBeGreaterThan(0)
  await shot('timeline-past')
  await tab.keyboard.press('Tab')
  await tab.keyboard.press('Escape')
  await tab.getByTestId('moment-bar').waitFor({ state: 'detached' })
  expect(errors).toEqual([])
})

test('flow: what ran is done, and at an earlier moment it is not yet', async () => {
  await open('flow')
  const nodes = tab.getByTestId('flow-node')
  await nodes.first().waitFor()
  expect(await nodes.count()).toBeGreaterThanOrEqual(5)
  expect(await tab.locator('[data-testid="flow-node"][data-status="ok"]').count()).toBe(await nodes.count())
  await shot('flow')
  await tab.getByTestId('scrubber').fill('2')
  await tab.locator('[data-testid="flow-node"][data-status="idle"]').first().waitFor()
  await shot('flow-past')
  expect(errors).toEqual([])
})

test('proof: the confidence is the one in the text, with its origin', async () => {
  await open('proof')
  const head = tab.getByTestId('proof-confidence')
  await head.waitFor()
  expect(await head.textContent()).toMatch(/\d+%.*(stated|parsed from text)/)
  expect(await tab.getByTestId('proof-specialist').count()).toBeGreaterThanOrEqual(4)
  await shot('proof')
  await tab.getByTestId('scrubber').fill('3')
  await tab.getByTestId('panel-proof').getByText('No answer yet').waitFor()
  expect(errors).toEqual([])
})

test('state: the tree at the cursor, what changed, and the history of one value', async () => {
  await open('state', await bring('loop'))
  const tree = tab.getByTestId('state-tree')
  await tree.getByText('draft').waitFor()
  await tab.locator('[data-testid="state-difference"].removed').getByText('verdict').waitFor()
  expect(await tree.textContent()).toContain('"two"')
  const seqs = await tab.getByTestId('scrubber').getAttribute('max')
  await tree.getByText('draft').hover()
  await tree.getByLabel('History of this value').first().click()
  const history = tab.getByTestId('state-history')
  expect(await history.textContent()).toContain('written 2 times')
  await shot('state')
  await history.getByRole('button', { name: '"one"' }).click()
  await tab.getByTestId('state-difference').getByText('draft').waitFor()
  expect(await tree.textContent()).toContain('"one"')
  await tab.getByTestId('state-pin').click()
  await tab.getByTestId('scrubber').fill(String(Number(seqs) - 1))
  await tab.locator('[data-testid="state-difference"].changed').getByText('draft').waitFor()
  await shot('state-pinned')
  expect(errors).toEqual([])
})

test('flow: a loop is drawn once with its count, and the keys ride on the edges that carried them', async () => {
  await open('flow', await bring('loop'))
  const keys = tab.getByTestId('flow-key')
  await keys.first().waitFor()
  expect(await tab.getByTestId('flow-node').count()).toBe(2)
  expect(await tab.getByTestId('flow-graph').getByText('2×').count()).toBeGreaterThan(0)
  await keys.getByText('draft').first().hover()
  await tab.locator('.link-edge.carries').first().waitFor()
  await shot('flow-loop')
  expect(errors).toEqual([])
})

test('plan: tasks are added, edited, moved by keyboard, carried out; artifacts and data come of it', async () => {
  await say('s2', 'planner', 'Plan a competitor analysis of the CRM market')
  await open('plan', 's2')
  const tasks = tab.getByTestId('plan-task')
  await tasks.first().waitFor()
  const before = await tasks.count()
  await tab.getByTestId('plan-add').fill('Write it up')
  await tab.keyboard.press('Enter')
  await expect.poll(() => tasks.count()).toBe(before + 1)
  await tasks.last().getByLabel('Move', { exact: false }).press('ArrowUp')
  await expect.poll(() => tasks.nth(before - 1).textContent()).toContain('Write it up')
  await tasks
    .nth(before - 1)
    .getByLabel('Edit')
    .click()
  await tab.getByLabel('Title').fill('Write the report')
  await tab.keyboard.press('Enter')
  await expect.poll(() => tasks.nth(before - 1).textContent()).toContain('Write the report')
  await shot('plan')
  await tab.getByTestId('plan-execute').click()
  await tab.getByTestId('plan-artifact').first().waitFor({ timeout: 90_000 })
  await tab.getByTestId('plan-summary').getByText('completed').waitFor({ timeout: 90_000 })
  await tab.getByTestId('plan-artifact').first().locator('summary').click()
  await shot('plan-done')
  await tab.getByTestId('scrubber').fill('2')
  await tab.getByTestId('panel-plan').getByText('No plan yet').waitFor()
  expect(errors).toEqual([])
})

test('wire: every dialect, filtered, opened, and only up to the cursor', async () => {
  await open('wire')
  const frames = tab.getByTestId('wire-frame')
  await frames.first().waitFor()
  for (const dialect of ['adk', 'studio', 'plan', 'millrace', 'ag-ui']) {
    await tab.getByTestId('wire-dialect').selectOption(dialect)
    await frames.first().waitFor()
  }
  expect(await frames.count()).toBeLessThan(100)
  await tab.getByLabel('Filter frames').fill('RUN_STARTED')
  await expect.poll(() => frames.count()).toBe(1)
  await frames.first().getByRole('button').first().click()
  expect(await frames.first().locator('pre').textContent()).toContain('"type": "RUN_STARTED"')
  await tab.getByLabel('Filter frames').fill('')
  await shot('wire')
  await tab.getByTestId('scrubber').fill('1')
  await expect.poll(() => frames.count()).toBeLessThan(6)
  expect(errors).toEqual([])
})

test('problems: a finding leads to its event', async () => {
  await open('problems')
  await tab.getByTestId('panel-problems').getByText('No problems').waitFor()
  await open('problems', await bring('foreign'))
  await tab.getByTestId('problem-row').first().click()
  await tab.getByTestId('moment-bar').waitFor()
  await shot('problems')
  expect(errors).toEqual([])
})

test('usage: a row for every agent that called a model', async () => {
  await open('usage')
  const rows = tab.getByTestId('usage-row')
  await rows.first().waitFor()
  expect(await rows.count()).toBe(5)
  await shot('usage')
  await tab.getByTestId('scrubber').fill('1')
  await tab.getByTestId('panel-usage').getByText('No model was called yet').waitFor()
  expect(errors).toEqual([])
})

test('in the dark', async () => {
  await tab.emulateMedia({ colorScheme: 'dark' })
  await open('flow')
  await tab.getByTestId('flow-node').first().waitFor()
  await shot('flow-dark')
  await open('proof')
  await tab.getByTestId('proof-confidence').waitFor()
  await shot('proof-dark')
  await tab.emulateMedia({ colorScheme: 'light' })
  expect(errors).toEqual([])
})
