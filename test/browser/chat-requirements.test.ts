import { expect, test } from 'vitest'
import { studioTests } from './studio-page.ts'

const studio = studioTests(0)

/** The two browser scenarios of the chat front-end document, word for word, after the agent is chosen (docs/requirements.md, R3). */
test('should render multi-agent transcript with author labels', async () => {
  const tab = await studio.open()
  const { page } = tab
  await page.getByTestId('agent-picker').selectOption('research')

  await page.fill('[data-testid="chat-input"]', 'Research quantum computing')
  await page.click('[data-testid="send-button"]')
  await page.waitForSelector('[data-testid="message-complete"]', { timeout: 30000 })

  const messages = await page.$$('[data-testid^="message-"]')
  expect(messages.length).toBeGreaterThan(2)
  const authorLabels = await page.$$('[data-testid="message-author"]')
  const authors = await Promise.all(authorLabels.map((el) => el.textContent()))
  expect(authors).toContain('plan_generator')
  expect(authors).toContain('section_researcher')
  await tab.shot('chat-authors')
})

test('should display function responses as status updates', async () => {
  const tab = await studio.open()
  const { page } = tab
  await page.getByTestId('agent-picker').selectOption('research')

  await page.fill('[data-testid="chat-input"]', 'Find latest AI research papers')
  await page.click('[data-testid="send-button"]')
  await page.waitForSelector('[data-testid="status-function-call"]', { timeout: 10000 })

  const statusText = await page.textContent('[data-testid="status-function-call"]')
  expect(statusText).toContain('web_search')
  await tab.shot('chat-status')
})
