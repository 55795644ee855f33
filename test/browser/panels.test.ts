import { mkdirSync } from 'node:fs'
import { discoverAgents } from '@millrace/server'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testServer } from '../server.ts'
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
  expect(await tab.getByTestId('timeline').locator('.bar.now').count()).toBeGreaterThan(0)
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
