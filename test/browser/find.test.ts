import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteLog, sqliteLog } from '@millrace/server'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { press } from './pointer.ts'
import { studioTests, type Tab } from './studio-page.ts'

/** Looks into a harbour with a tool, keeps what it saw, and fails for one of them. */
const pilot = scriptedAgent('pilot', function* (input) {
  const event = { id: 'e', author: 'pilot', invocationId: 'i', timestamp: 1_767_081_391_000 }
  const call = { id: 'c', name: 'look_up_harbour', args: { city: 'Lisbon' } }
  const response = { id: 'c', name: 'look_up_harbour', response: { depth: 'eleven fathoms' } }
  yield { kind: 'agent', message: 'c', event: { ...event, content: { parts: [{ functionCall: call }] } } }
  yield { kind: 'agent', message: 'd', event: { ...event, content: { parts: [{ functionResponse: response }] } } }
  yield { kind: 'state', patch: [{ op: 'add', path: '/harbour_depth', value: 11 }] }
  yield* speech('pilot', `The lighthouse of ${textOf(input)} is **lit**.`)
  if (textOf(input).includes('Atlantis'))
    yield { kind: 'run.finished', outcome: 'failed', error: { code: 'agent-error', message: 'no harbour under water' } }
})
/** Says so much that the page keeps only a part of it in the document. */
const talker = scriptedAgent('talker', function* () {
  for (let i = 0; i < 160; i++)
    yield* speech('talker', i === 3 ? 'The buried anchor' : `Line ${i}`, { message: `m${i}` })
})
const asker = scriptedAgent('asker', function* (input) {
  if (input.resume !== undefined) return yield* speech('asker', 'Thank you')
  const payload = { tool: 'book', args: { city: 'Lisbon' } }
  yield { kind: 'interrupt', id: 'q', reason: 'confirmation', message: 'Book the berth?', payload }
  yield { kind: 'run.finished', outcome: 'interrupted' }
})

const folder = mkdtempSync(join(tmpdir(), 'millrace-find-page-'))
let log: SqliteLog
const studio = studioTests(0, [pilot, talker, asker], async () => {
  log = await sqliteLog({ folder, now: Date.now })
  return log
})
afterAll(async () => {
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

const looks = [
  { width: 1440, height: 900, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
] as const
const lookOf = ({ width, height, colorScheme }: (typeof looks)[number]) =>
  ({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce', bypassCSP: true }) as const

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
async function heavyFindings({ page }: Tab, within: string): Promise<readonly string[]> {
  await page.addScriptTag({ path: axe })
  return page.evaluate(async (selector) => {
    interface Found {
      violations: { id: string; impact: string; nodes: { html: string }[] }[]
    }
    const { axe: tool } = globalThis as unknown as { axe: { run(context: string): Promise<Found> } }
    const { violations } = await tool.run(selector)
    const heavy = violations.filter(({ impact }) => impact !== 'minor')
    return heavy.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  }, within)
}
const marks = (page: Page, name: string): Promise<readonly string[]> =>
  page.evaluate((key) => [...(CSS.highlights.get(key) ?? [])].map((range) => String(range)), name)

/** The page looks at the list of sessions now, and not only within its four seconds. */
const refresh = (page: Page): Promise<void> =>
  page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')))

test.each(looks)('⌘K finds words in all sessions and opens the one chosen at its step, $width px', async (look) => {
  await Promise.all([studio.run('pilot', 'Lisbon'), studio.run('pilot', 'Atlantis')])
  const tab = await studio.open('/', lookOf(look))
  const { page } = tab
  await page.keyboard.press('Control+k')
  const field = page.getByTestId('palette-input')
  await page.getByTestId('palette').getByText('Recent sessions').waitFor()
  await tab.shot(`palette-empty-${look.width}`)
  await page.keyboard.type('fathoms ele')
  const options = page.getByTestId('palette-option')
  await expect.poll(() => page.locator('.palette mark').allTextContents()).toContain('fathoms')
  expect(await heavyFindings(tab, '.palette')).toEqual([])
  // With the keyboard: only what is of the kind, then to the second match and back.
  await press(page, page.getByTestId('palette-kind-state'))
  await page.getByText('No state has “fathoms ele”.').waitFor()
  await field.fill('harb')
  await expect.poll(() => page.locator('.palette mark').allTextContents()).toContain('harb')
  expect(await options.locator('[data-kind=state]').count()).toBe(await options.count())
  await press(page, page.getByTestId('palette-kind-all'))
  await field.focus()
  await expect.poll(() => options.count()).toBeGreaterThan(5)
  await tab.shot(`palette-${look.width}-${look.colorScheme}`)
  await field.fill('under water')
  await page.locator('.palette mark', { hasText: 'water' }).first().waitFor()
  await expect.poll(() => page.locator('[aria-selected=true]').textContent()).toContain('under water')
  await page.keyboard.press('Enter')
  await page.getByTestId('palette').waitFor({ state: 'hidden' })
  await page.waitForURL(/\/s\/.+\?at=\d+&panel=step/)
  await page.getByTestId('run-error').waitFor()
  // With the mouse: a tool of the other session.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('eleven')
  await press(page, page.getByTestId('palette-kind-tool'))
  await press(page, options.filter({ hasText: 'fathoms' }).first())
  await page.getByTestId('moment-bar').waitFor()
  await page.getByTestId('status-function-call').first().waitFor()
  // What is nowhere is said, and Esc closes.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('no such words')
  await page.getByText('Nothing in your sessions has “no such words”.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByTestId('palette').waitFor({ state: 'hidden' })
})

test.each(looks)('find in the conversation counts, marks and walks, $width px', async (look) => {
  const session = await studio.run('talker', 'Talk')
  const tab = await studio.open(`/s/${session}`, lookOf(look))
  const { page } = tab
  await page.getByText('Line 159').waitFor()
  expect(await page.getByText('The buried anchor').count()).toBe(0)
  await page.keyboard.press('Control+f')
  await page.keyboard.type('BURIED anch')
  await page.getByText('1 of 1').waitFor()
  await page.getByText('The buried anchor').waitFor()
  await expect.poll(() => marks(page, 'found-now')).toEqual(['buried anch'])
  await expect
    .poll(() =>
      page.getByText('The buried anchor').evaluate((element) => {
        const { left, top, height } = element.getBoundingClientRect()
        return element.contains(document.elementFromPoint(left + 5, top + height / 2))
      }),
    )
    .toBe(true)
  await tab.shot(`find-${look.width}-${look.colorScheme}`)
  expect(await heavyFindings(tab, '.find-bar')).toEqual([])
  await page.getByTestId('find-input').fill('line 15')
  await page.getByText('1 of 11').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('2 of 11').waitFor()
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.press('Shift+Enter')
  await page.getByText('11 of 11').waitFor()
  await expect.poll(() => marks(page, 'found-now')).toEqual(['Line 15'])
  await press(page, page.getByRole('button', { name: 'Next (Enter)' }))
  await page.getByText('1 of 11').waitFor()
  await page.getByTestId('find-input').fill('absent')
  await page.getByText('Not found').waitFor()
  await page.getByTestId('find-input').press('Escape')
  await page.getByTestId('find-bar').waitFor({ state: 'detached' })
  expect(await marks(page, 'found')).toEqual([])
})

test('the list is narrowed by agent, status and date', async () => {
  const [good, bad] = await Promise.all([studio.run('pilot', 'Porto'), studio.run('pilot', 'Atlantis again')])
  const { page } = await studio.open('/', lookOf(looks[0]))
  const row = (id: string) => page.getByTestId(`session-${id}`)
  await row(bad).waitFor()
  await press(page, page.getByTestId('show-filters'))
  await page.getByTestId('filter-status').selectOption('failed')
  await row(good).waitFor({ state: 'detached' })
  await row(bad).waitFor()
  await page.getByTestId('filter-agent').selectOption('assistant')
  await page.getByText('No sessions match these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByTestId('filter-date').selectOption('1')
  await row(good).waitFor()
})

test.each(looks)('a session elsewhere that waits is told, and answered from the inbox, $width px', async (look) => {
  const shown = await studio.run('pilot', 'Faro')
  const waits = await studio.run('asker', 'First question')
  const tab = await studio.open(`/s/${shown}`, lookOf(look))
  const { page } = tab
  await page.getByTestId('message-complete').waitFor()
  if (look.width < 820) await page.keyboard.press('[')
  await page.getByTestId(`session-${waits}`).waitFor()
  await page.getByTestId('inbox-count').waitFor()
  // The list is known from here on; a second question is news.
  await studio.app.inject({
    method: 'POST',
    url: '/sessions',
    payload: { id: `late-${look.width}`, agent: 'asker', title: 'Late question' },
  })
  await refresh(page)
  await page.getByTestId(`session-late-${look.width}`).waitFor()
  const message = { id: 'm', role: 'user', content: { role: 'user', parts: [{ text: 'Book' }] } }
  const payload = { agent: 'asker', input: { messages: [message] } }
  await studio.app.inject({ method: 'POST', url: `/sessions/late-${look.width}/runs`, payload })
  await expect
    .poll(async () => (await studio.app.inject(`/sessions/late-${look.width}`)).json().run)
    .toBe('interrupted')
  await refresh(page)
  const notice = page.getByTestId(`notice-late-${look.width}`)
  await notice.getByText('waits for you').first().waitFor()
  await tab.shot(`notice-${look.width}-${look.colorScheme}`)
  await press(page, notice.getByRole('button', { name: /^Dismiss/ }))
  await notice.waitFor({ state: 'detached' })
  if (look.width < 820) await page.keyboard.press('[')
  await page.keyboard.press('i')
  const inbox = page.getByTestId('inbox')
  await inbox.getByText('Book the berth?').waitFor()
  expect(await heavyFindings(tab, '.inbox')).toEqual([])
  await tab.shot(`inbox-${look.width}-${look.colorScheme}`)
  const first = inbox.getByTestId(`inbox-${waits}`)
  await press(page, first.getByTestId('interrupt-approve'))
  await expect.poll(async () => (await studio.app.inject(`/sessions/${waits}`)).json().run).toBe('done')
  await refresh(page)
  await first.waitFor({ state: 'detached' })
  const second = inbox.getByTestId(`inbox-late-${look.width}`)
  await press(page, second.getByTestId('interrupt-reject'))
  await expect.poll(async () => (await studio.app.inject(`/sessions/late-${look.width}`)).json().run).toBe('done')
  await refresh(page)
  await inbox.getByText('Nothing waits for you').waitFor()
  await page.keyboard.press('Escape')
  await inbox.waitFor({ state: 'hidden' })
  expect(new URL(page.url()).pathname).toBe(`/s/${shown}`)
  const { status } = (await studio.app.inject(`/sessions?search=First`)).json().sessions[0]
  expect(status).toBe('done')
})

test('the sheet of keys names every key', async () => {
  const { page } = await studio.open('/', lookOf(looks[0]))
  // Not by its key: the field for the first message takes the focus once the agents are known.
  await page.getByRole('button', { name: 'Keyboard shortcuts (?)' }).click()
  const sheet = page.getByTestId('key-sheet')
  for (const key of ['K', 'F', 'i', 'j', 'k', '8'])
    await sheet.locator('kbd', { hasText: new RegExp(`^${key}$`) }).waitFor()
})
