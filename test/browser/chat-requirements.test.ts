import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { launchChromium } from './chromium.ts'

/**
 * The two browser scenarios of the chat front-end document, word for word except for the address (docs/requirements.md,
 * R3), against the command as it ships.
 */
let served: Served
let browser: Browser
let page: Page
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'))
  const args = ['serve', '--port', '0', '--data-dir', folder, '--default-agent', 'research', ...oneProcess]
  served = await serveBuilt(args, { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' })
  browser = await launchChromium()
  page = await browser.newPage()
})
afterAll(async () => {
  await browser.close()
  await served.kill()
})

test('should render multi-agent transcript with author labels', async () => {
  await page.goto(served.address)

  await page.fill('[data-testid="chat-input"]', 'Research quantum computing')
  await page.click('[data-testid="send-button"]')
  await page.waitForSelector('[data-testid="message-complete"]', { timeout: 30000 })

  const messages = await page.$$('[data-testid^="message-"]')
  expect(messages.length).toBeGreaterThan(2)
  const authorLabels = await page.$$('[data-testid="message-author"]')
  const authors = await Promise.all(authorLabels.map((el) => el.textContent()))
  expect(authors).toContain('plan_generator')
  expect(authors).toContain('section_researcher')
})

test('should display function responses as status updates', async () => {
  await page.goto(served.address)

  await page.fill('[data-testid="chat-input"]', 'Find latest AI research papers')
  await page.click('[data-testid="send-button"]')
  await page.waitForSelector('[data-testid="status-function-call"]', { timeout: 10000 })

  const statusText = await page.textContent('[data-testid="status-function-call"]')
  expect(statusText).toContain('web_search')
})

test('an agent in the address is chosen, until another one is', async () => {
  await page.goto(`${served.address}/?agent=recovery`)
  const picker = page.getByTestId('agent-picker')
  await page.locator('[data-testid="agent-recovery"].chosen').waitFor()
  await expect.poll(() => picker.inputValue()).toBe('recovery')
  await picker.selectOption('planner')
  await page.locator('[data-testid="agent-planner"].chosen').waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.goto(`${served.address}/?agent=nobody`)
  await page.locator('[data-testid="agent-planner"].chosen').waitFor()
})
