import type { Recorded } from '@millrace/core'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { pointAt, press, pressKey } from './pointer.ts'
import { studioTests } from './studio-page.ts'

const studio = studioTests(0)
const wide = { viewport: { width: 1440, height: 900 } }
let chat: string
let recovery: string
let plan: string
let imported: string

beforeAll(async () => {
  chat = await studio.run('assistant', 'What is the weather in Lisbon?')
  recovery = await studio.run('recovery', 'Give me a recovery briefing for Cedar Creek')
  plan = await studio.run('planner', 'Plan a product launch')
  imported = await studio.bring('adk', 'javascript-flavour')
})

const textOf = async (page: Page, id: string): Promise<string> => (await page.getByTestId(id).textContent()) ?? ''
const exported = async (id: string): Promise<string> => (await studio.app.inject(`/sessions/${id}/log`)).body

/** The editor is open and knows what would be reused. */
async function planned(page: Page): Promise<string> {
  await page.getByTestId('change-sheet').waitFor()
  await expect.poll(() => textOf(page, 'change-plan')).not.toBe('Looking…')
  return textOf(page, 'change-plan')
}

/** The comparison has opened by itself and the run in it has ended. */
async function compared(page: Page): Promise<void> {
  await page.getByTestId('compare').waitFor()
  await page.getByTestId('divergence').waitFor()
  await expect.poll(() => page.locator('.figures tr').first().textContent()).toBe('Outcomedonedone')
}

test('a result is edited on its card, and the comparison names where the runs part', async () => {
  const before = await exported(chat)
  const tab = await studio.open(`/s/${chat}`, wide)
  const { page } = tab
  await press(page, page.getByTestId('status-function-call').locator('summary').first())
  await press(page, page.getByTestId('edit-result').first())
  expect(await planned(page)).toContain('1 model call is reused, not called again')
  const field = page.getByTestId('change-sheet').locator('textarea')
  const given = await field.inputValue()
  await field.fill('{')
  expect(await textOf(page, 'change-problem')).toContain('Result is not JSON')
  expect(await page.getByTestId('change-run').isDisabled()).toBe(true)
  await field.fill(given)
  expect(await page.getByTestId('change-run').isDisabled()).toBe(true)
  await field.fill(JSON.stringify({ ...JSON.parse(given), city: 'Atlantis' }))
  await tab.shot('run-on-edit')
  await press(page, page.getByTestId('change-run'))
  await compared(page)
  expect(await textOf(page, 'divergence')).toMatch(/assistant’s first call of \w+/)
  await tab.shot('run-on-compare')
  await press(page, page.getByRole('button', { name: 'Close' }))
  expect(await textOf(page, 'changed')).toContain('You changed the result of')
  expect(page.url()).not.toContain(chat)
  expect(await exported(chat)).toBe(before)
})

test('a request is edited in the step panel, with the keyboard alone', async () => {
  const { page } = await studio.open(`/s/${chat}`, wide)
  await press(page, page.getByTestId('message-step').last())
  await pressKey(page, page.getByTestId('edit-prompt'))
  expect(await planned(page)).toContain('1 model call and 1 tool call are reused, not called again')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('Answer like a pirate, j and k.')
  await page.keyboard.press('ControlOrMeta+Enter')
  await page.getByTestId('compare').waitFor()
  await expect.poll(() => page.locator('.figures tr').first().textContent()).toBe('Outcomedonedone')
})

/** The last event before this kind of step, which most of the run came before. */
async function before(id: string, kind: 'model.started' | 'node.started'): Promise<number> {
  const rows = (await exported(id)).split('\n').slice(1, -1)
  const seqs = rows.map((row) => JSON.parse(row) as Recorded).filter(({ event }) => event.kind === kind)
  return (seqs.at(-1)?.seq ?? 0) - 1
}

test.each(['recovery', 'planner'] as const)(
  'a value of the state is edited at an earlier moment of %s',
  async (agent) => {
    const [session, kind] =
      agent === 'recovery' ? ([recovery, 'model.started'] as const) : ([plan, 'node.started'] as const)
    const { page } = await studio.open(`/s/${session}?panel=state&at=${await before(session, kind)}`, wide)
    await pointAt(page, page.getByTestId('state-tree').locator('.tree-row').first())
    await press(page, page.getByTestId('edit-value').first())
    expect(await planned(page)).toMatch(/[1-9]\d* (model|tool) calls? (is|are) reused, not called again/)
    const field = page.getByTestId('change-sheet').locator('textarea')
    await field.fill(JSON.stringify({ changed: await field.inputValue() }))
    await press(page, page.getByTestId('change-run'))
    await page.getByTestId('compare').waitFor()
    await expect.poll(() => page.locator('.figures tr').first().textContent()).toMatch(/^Outcomedone(done|failed)$/)
  },
)

test('what cannot run on says so before the click', async () => {
  const { page } = await studio.open(`/s/${imported}?panel=state`, wide)
  await press(page, page.getByTestId('bar-agent').first())
  await press(page, page.getByTestId('step-state').getByTestId('edit-state'))
  expect(await planned(page)).toContain('Not possible: the server has no agent')
  expect(await page.getByTestId('change-run').isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await page.getByTestId('change-sheet').waitFor({ state: 'hidden' })
})

test('three runs of one session are a table, and each is shown beside the first', async () => {
  const tab = await studio.open(`/s/${chat}`, wide)
  const { page } = tab
  for (const [i, text] of ['What is the weather in Porto?', 'What is 17 * 23?'].entries()) {
    await page.getByTestId('chat-input').fill(text)
    await press(page, page.getByTestId('send-button'))
    await expect.poll(() => page.getByTestId('message-complete').count()).toBe(i + 2)
  }
  await press(page, page.getByTestId('compare-link').last())
  const rows = page.getByTestId('runs-row')
  await expect.poll(() => rows.count()).toBe(3)
  expect(await rows.nth(1).textContent()).toContain('your first message')
  await tab.shot('run-on-table')
  await press(page, rows.nth(2).getByRole('button', { name: 'Show' }))
  await page.getByText('17 * 23 = 391').first().waitFor()
})
