import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { launchChromium } from './chromium.ts'
import { press } from './pointer.ts'

interface Plan {
  readonly tasks: readonly { readonly title: string; readonly status: string; readonly startedAt?: number }[]
  readonly data: readonly { readonly item: { readonly url: string } }[]
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-person-'))
let served: Served
let browser: Browser
let page: Page
const serve = (tokensPerSecond: string): Promise<Served> =>
  serveBuilt(['serve', '--port', '0', '--data-dir', folder, ...oneProcess], {
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: tokensPerSecond,
  })
/** The person opens a tab, with the plan beside the conversation. */
async function open(path: string): Promise<void> {
  page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  await page.goto(served.address + path)
}
beforeAll(async () => {
  served = await serve('60')
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await served.kill()
  rmSync(folder, { recursive: true })
})

const cards = () => page.getByTestId('plan-task')
const card = (title: string) => cards().filter({ hasText: title })
const done = (): Promise<void> => page.getByTestId('plan-summary').getByText('done', { exact: true }).waitFor()

async function say(text: string): Promise<void> {
  await press(page, page.getByTestId('chat-input'))
  await page.keyboard.type(text)
  await press(page, page.getByTestId('send-button'))
}

const act = (name: string): Promise<void> => press(page, page.getByRole('button', { name, exact: true }))

async function rename(from: string, to: string): Promise<void> {
  await act(`Edit ${from}`)
  await page.getByLabel('Title', { exact: true }).fill(to)
  await act('Save')
}

/** The board and the server's view of the plan both show these tasks, in this order. */
async function holds(...titles: readonly string[]): Promise<Plan> {
  await expect.poll(() => cards().locator('.task-line b').allTextContents()).toEqual(titles)
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const plan = (await (await fetch(`${served.address}/sessions/${id}/views/plan`)).json()) as Plan
  expect(plan.tasks.map(({ title }) => title)).toEqual(titles)
  return plan
}

test('nothing that a person did on the page is undone: chat, edit, chat, execute, leave, crash, come back, retry', async () => {
  await open('/?agent=planner&panel=plan')
  await page.locator('[data-testid="agent-planner"].chosen').waitFor()
  await say(
    'Research the top 5 CRM competitors, write a competitor analysis document, and save each competitor as a contact',
  )
  await page.waitForURL('**/s/**')
  const research = 'Research the top 5 CRM competitors'
  await holds(research, 'Write a competitor analysis document', 'Save each competitor as a contact')

  await rename('Write a competitor analysis document', 'Write a report on CRM')
  await press(page, page.getByTestId('plan-add'))
  await page.keyboard.type('Simulate a failure')
  await page.keyboard.press('Enter')
  await card('Simulate a failure').waitFor()
  await act('Delete Save each competitor as a contact')
  await holds(research, 'Write a report on CRM', 'Simulate a failure')

  await say('Also prepare a pricing table')
  const whole = [research, 'Write a report on CRM', 'Simulate a failure', 'Prepare a pricing table']
  await holds(...whole)

  // The person leaves in the middle, and the server dies.
  await press(page, page.getByTestId('plan-execute'))
  await page.locator('[data-testid="plan-task"][data-status="in_progress"]').waitFor()
  await holds(...whole)
  const path = new URL(page.url()).pathname
  await page.close()
  await served.kill()
  served = await serve('0')
  await open(`${path}?panel=plan`)
  await done()
  const back = await holds(...whole)
  expect(back.tasks.map(({ status }) => status)).toEqual(['done', 'done', 'failed', 'done'])
  // What the lost attempt did was done again, and is shown once.
  expect(await card(research).locator('summary').textContent()).toBe('Result · 5 tool calls')

  await act('Retry Simulate a failure')
  await page.locator('[data-testid="plan-task"][data-status="pending"]').waitFor()
  expect((await holds(...whole)).tasks[2]).not.toHaveProperty('result')
  await rename('Simulate a failure', 'Survey remote teams')
  await press(page, page.getByTestId('plan-execute'))
  await page.getByTestId('plan-summary').getByText('4 of 4 done').waitFor()
  await done()
  const { tasks, data } = await holds(...whole.with(2, 'Survey remote teams'))
  for (const i of [0, 1, 3]) expect(tasks[i]).toEqual(back.tasks[i])
  // The retried task knew what the others had found, also what was found in the crash: it kept none of it again.
  const kept = data.map(({ item }) => item.url)
  expect(new Set(kept).size).toBe(kept.length)
})
