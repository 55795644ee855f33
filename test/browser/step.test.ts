import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { studioTests, type Tab } from './studio-page.ts'

const studio = studioTests(0)
const wide = { viewport: { width: 1440, height: 900 } }
let chat: string
let imported: string

beforeAll(async () => {
  chat = await studio.run('assistant', 'What is the weather in Lisbon?')
  imported = await studio.bring('adk', 'javascript-flavour')
})

/** Presses the mouse where a person would, and only where the element really is on top. */
async function press(page: Page, target: Locator): Promise<void> {
  await target.waitFor({ timeout: 20_000 })
  await target.scrollIntoViewIfNeeded()
  const box = await target.boundingBox()
  if (box === null) throw new Error('the element is not on the page')
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const isOnTop = await target.evaluate((node, at) => node.contains(document.elementFromPoint(at.x, at.y)), { x, y })
  expect(isOnTop).toBe(true)
  await page.mouse.click(x, y)
}

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
