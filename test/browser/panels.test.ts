import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { faults } from './matrix/faults.ts'
import { press, pressKey } from './pointer.ts'
import { studioTests, type Tab } from './studio-page.ts'

const studio = studioTests(0)
const wide = { viewport: { width: 1440, height: 900 } }
let briefing: string
let opened: Tab
let tab: Page

beforeAll(async () => {
  briefing = await studio.run('recovery', 'Prepare a recovery briefing for the Cedar Creek fire')
})
beforeEach(async () => {
  opened = await studio.empty(wide)
  tab = opened.page
})

async function open(panel: string, session = briefing, at?: number): Promise<void> {
  await tab.goto(`${studio.address}/s/${session}?panel=${panel}${at === undefined ? '' : `&at=${at}`}`)
  await tab.getByTestId(`panel-${panel}`).waitFor()
}
const shot = (name: string) => opened.shot(`panel-${name}`)

test('timeline: a bar for every execution, and the scrubber moves the page', async () => {
  await open('flow')
  const bars = tab.getByTestId('timeline').locator('.bar')
  await bars.first().waitFor()
  expect(await bars.count()).toBeGreaterThanOrEqual(5)
  await tab.getByTestId('scrubber').fill('20')
  await tab.getByTestId('moment-bar').waitFor()
  await tab.getByTestId('timeline').getByTestId('bar-now').first().waitFor({ state: 'attached' })
  // How long a tool takes that still runs is not known at that moment.
  await tab.locator('.tool.pending').first().waitFor()
  expect(await tab.locator('.tool.pending .number').count()).toBe(0)
  await shot('timeline-past')
  await tab.keyboard.press('Tab')
  await tab.keyboard.press('Escape')
  await tab.getByTestId('moment-bar').waitFor({ state: 'detached' })
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
})

test('flow: a click with the mouse on a node opens its last step, and so does the keyboard', async () => {
  await open('flow')
  const node = tab.locator('[data-testid="flow-node"][data-status="ok"]').first()
  await press(tab, node)
  await tab.getByTestId('moment-bar').waitFor()
  await tab.getByTestId('panel-step').waitFor()
  const clicked = await tab.getByTestId('scrubber').inputValue()
  await open('flow')
  await tab.getByTestId('moment-bar').waitFor({ state: 'detached' })
  await pressKey(tab, node)
  await tab.getByTestId('moment-bar').waitFor()
  await expect.poll(() => tab.getByTestId('scrubber').inputValue()).toBe(clicked)
})

test('proof: the confidence is the one in the text, with its origin', async () => {
  await open('proof')
  const head = tab.getByTestId('proof-confidence')
  await head.waitFor()
  expect(await head.textContent()).toMatch(/\d+%.*(given by the agent|read from the text)/)
  expect(await tab.getByTestId('proof-specialist').count()).toBeGreaterThanOrEqual(4)
  await shot('proof')
  await tab.getByTestId('scrubber').fill('3')
  await tab.getByTestId('panel-proof').getByText('No answer yet').waitFor()
})

test('proof: what a step of a graph says is an answer, whose figures are looked up', async () => {
  await open('proof', await studio.run('planner', 'Research the top 5 CRM competitors'))
  const panel = tab.getByTestId('panel-proof')
  await panel.getByTestId('proof-confidence').getByText('chat').waitFor()
  await panel
    .getByTestId('why-counts')
    .getByText(/sentences? with figures/)
    .waitFor()
  await panel.locator('.figure').first().waitFor()
})

test('state: the tree at the cursor, what changed, and the history of one value', async () => {
  await open('state', await studio.bring('studio', 'loop'))
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
})

test('flow: a loop is drawn once with its count, and the keys ride on the edges that carried them', async () => {
  await open('flow', await studio.bring('studio', 'loop'))
  const keys = tab.getByTestId('flow-key')
  await keys.first().waitFor()
  expect(await tab.getByTestId('flow-node').count()).toBe(2)
  expect(await tab.getByTestId('flow-graph').getByText('2×').count()).toBeGreaterThan(0)
  await keys.getByText('draft').first().hover()
  await tab.locator('.link-edge.carries').first().waitFor()
  await shot('flow-loop')
})

test('plan: tasks are added, edited, moved by keyboard, carried out; artifacts and data come of it', async () => {
  await open('plan', await studio.run('planner', 'Plan a competitor analysis of the CRM market'))
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
  await tab.getByTestId('plan-artifact').first().waitFor()
  await tab.getByTestId('plan-summary').getByText('done', { exact: true }).waitFor()
  await tab.getByTestId('plan-artifact').first().locator('summary').click()
  await shot('plan-done')
  await tab.getByTestId('scrubber').fill('2')
  await tab.getByTestId('panel-plan').getByText('No plan yet').waitFor()
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
})

test('problems: a finding leads to its event', async () => {
  await open('problems')
  await tab.getByTestId('panel-problems').getByText('No problems').waitFor()
  await open('problems', await studio.bring('studio', 'half-right'))
  await tab.getByTestId('problem-row').first().click()
  await tab.getByTestId('moment-bar').waitFor()
  await shot('problems')
})

test('usage: a row for every agent that called a model', async () => {
  await open('usage')
  const rows = tab.getByTestId('usage-row')
  await rows.first().waitFor()
  expect(await rows.count()).toBe(5)
  await shot('usage')
  await tab.getByTestId('scrubber').fill('1')
  await tab.getByTestId('panel-usage').getByText('No model calls yet').waitFor()
})

test('each panel in the dark, and no empty one', async () => {
  await tab.emulateMedia({ colorScheme: 'dark' })
  for (const [panel, proof] of [
    ['flow', 'flow-node'],
    ['state', 'panel-state'],
    ['proof', 'proof-confidence'],
    ['plan', 'panel-plan'],
    ['wire', 'wire-frame'],
    ['problems', 'panel-problems'],
    ['usage', 'usage-row'],
  ] as const) {
    await open(panel)
    await tab.getByTestId(proof).first().waitFor()
    await shot(`${panel}-dark`)
  }
})

test('the calls before an answer are numbered, and each step leads to its event', async () => {
  await open('proof')
  const step = tab.getByTestId('proof-step').first()
  await step.waitFor()
  await step.getByRole('button').first().click()
  await tab.getByTestId('moment-bar').waitFor()
  await shot('proof-step')
})

test('citations are opened elsewhere or copied', async () => {
  const session = await studio.run('research', 'Research quantum computing')
  await open('proof', session)
  const citation = tab.getByTestId('proof-citation').first()
  await citation.waitFor()
  const panel = tab.getByTestId('panel-proof')
  expect(await tab.getByTestId('proof-confidence').textContent()).toContain('No confidence given. 5 sources cited.')
  expect(await panel.textContent()).not.toContain('not given')
  await panel.getByText('Tools used').waitFor()
  expect(await citation.getByRole('link').first().getAttribute('rel')).toContain('noopener')
  expect(await citation.getByLabel('Copy', { exact: false }).count()).toBeGreaterThan(0)
  await shot('proof-citations')
})

test('state: a search, a path and a value copied', async () => {
  await tab.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await open('state', await studio.run('research', 'Research quantum computing'))
  await tab.getByLabel('Search the state').fill('topic')
  const row = tab.getByTestId('state-tree').locator('.tree-row').first()
  await row.waitFor()
  await row.hover()
  await row.getByLabel('Copy the path').click()
  await expect.poll(() => tab.evaluate(() => navigator.clipboard.readText())).toMatch(/^\/.*topic$/)
  await row.getByLabel('Copy the value').click()
  await expect.poll(() => tab.evaluate(() => navigator.clipboard.readText())).toContain('quantum computing')
  await shot('state-search')
})

test('timeline: zoomed, played at another speed, and a bar leads to its moment', async () => {
  await open('flow')
  const bars = tab.getByTestId('timeline').locator('.bar')
  await bars.first().waitFor()
  const narrow = (await bars.nth(1).boundingBox())?.width ?? 0
  await tab.getByTestId('timeline').getByLabel('Zoom in').click()
  await expect.poll(async () => (await bars.nth(1).boundingBox())?.width ?? 0).toBeGreaterThan(narrow * 1.5)
  for (const _ of [2, 3, 4, 5]) await tab.getByTestId('timeline').getByLabel('Zoom in').click()
  const labels = tab.getByTestId('timeline').locator('.tick:not(:empty)')
  await labels.nth(1).waitFor()
  // No two ticks are called the same.
  const names = await labels.allTextContents()
  expect(new Set(names).size, names.join(', ')).toBe(names.length)
  await tab.getByTestId('timeline').getByLabel('Fit').click()
  await bars.nth(1).click()
  await tab.getByTestId('moment-bar').waitFor()
  const before = await tab.getByTestId('scrubber').inputValue()
  await tab.getByTestId('speed').selectOption('8')
  await tab.getByTestId('play').click()
  await expect.poll(async () => Number(await tab.getByTestId('scrubber').inputValue())).toBeGreaterThan(Number(before))
  await shot('timeline-played')
})

test('flow: the preview of a key says what travelled, and every edge that carried it is lit', async () => {
  await open('flow', await studio.run('research', 'Research quantum computing'))
  const key = tab.getByTestId('flow-key').filter({ hasText: 'research_plan' }).first()
  await key.waitFor()
  await key.hover()
  await expect.poll(() => tab.locator('.link-edge.carries').count()).toBeGreaterThan(1)
  expect(await tab.getByRole('tooltip').textContent()).toContain('quantum computing')
  await shot('flow-key')
})

test('wire: the stream as curl, and a frame as it is on the wire', async () => {
  await tab.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await open('wire')
  await tab.getByTestId('wire-frame').first().waitFor()
  await tab.getByLabel('Copy as curl').click()
  await expect
    .poll(() => tab.evaluate(() => navigator.clipboard.readText()))
    .toBe(`curl -N -H 'Accept: text/event-stream' '${studio.address}/sessions/${briefing}/events?dialect=ag-ui'`)
  await tab.getByRole('button', { name: 'Pretty' }).click()
  await tab.getByLabel('Filter frames').fill('RUN_STARTED')
  await expect.poll(() => tab.getByTestId('wire-frame').count()).toBe(1)
  await tab.getByTestId('wire-frame').first().getByRole('button').first().click()
  expect(await tab.getByTestId('wire-frame').first().locator('pre').textContent()).toMatch(/^id: 1\ndata: \{/)
})

test.each([390, 768, 1440, 1920])('wire: two dialects fit beside or below each other at %i px', async (width) => {
  const { page } = await studio.open(`/s/${briefing}?panel=wire`, { viewport: { width, height: 900 } })
  await page.getByTestId('wire-beside').selectOption('adk')
  const columns = page.getByTestId('wire-column')
  await columns.nth(1).getByTestId('wire-frame').first().waitFor()
  expect(await page.evaluate(faults)).toEqual([])
  const [first, second] = await columns.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()))
  expect([second.left >= first.right, second.top >= first.bottom]).toEqual(width < 480 ? [false, true] : [true, false])
  // The names of both dialects have room before the arrow, and both lists still end at the newest frame.
  const room = await page.locator('.wire-panel select').evaluateAll((selects) =>
    selects.map((select) => {
      const { font, paddingLeft } = getComputedStyle(select)
      const pen = new OffscreenCanvas(1, 1).getContext('2d')
      if (pen !== null) pen.font = font
      const [chosen] = (select as HTMLSelectElement).selectedOptions
      const text = pen?.measureText(chosen?.text.trim() ?? '').width ?? Number.NaN
      return select.clientWidth - Number.parseFloat(paddingLeft) - text
    }),
  )
  expect(Math.min(...room)).toBeGreaterThan(24)
  const hidden = (): Promise<readonly number[]> =>
    columns
      .locator('.frames')
      .evaluateAll((lists) =>
        lists.map(({ scrollHeight, clientHeight, scrollTop }) => Math.round(scrollHeight - clientHeight - scrollTop)),
      )
  await expect.poll(hidden).toEqual([0, 0])
})

test('state: the last change is one that made a difference, also where the same values were written later', async () => {
  const again = await studio.run('recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  const content = { role: 'user', parts: [{ text: 'Give me a recovery briefing for Cedar Creek Fire' }] }
  const payload = { agent: 'recovery', input: { messages: [{ id: 'again', role: 'user', content }] } }
  await studio.app.inject({ method: 'POST', url: `/sessions/${again}/runs`, payload })
  await expect
    .poll(async () => (await studio.app.inject(`/sessions/${again}`)).json())
    .toMatchObject({ run: 'done', runs: 2 })
  await open('state', again)
  const changed = tab.getByTestId('panel-state').getByTestId('state-difference')
  await changed.first().waitFor()
})

test('a plan is reordered by dragging too', async () => {
  await open('plan', await studio.run('planner', 'Plan a competitor analysis of the CRM market'))
  const tasks = tab.getByTestId('plan-task')
  await tasks.nth(1).waitFor()
  const first = (await tasks.first().locator('b').first().textContent()) ?? ''
  await tasks.first().getByLabel('Move', { exact: false }).dragTo(tasks.nth(1))
  await expect.poll(() => tasks.nth(1).textContent()).toContain(first)
})

test('proof: a figure of the answer leads to the results that hold it, and a planted one is marked', async () => {
  await open('proof')
  const why = tab.getByTestId('why')
  await why.locator('.figure').first().waitFor()
  expect(await why.locator('.figure').count()).toBeGreaterThan(30)
  expect(await why.locator('.figure:not(.held)').allTextContents()).toEqual([])
  await clickAt(why.locator('.figure', { hasText: '127,311' }))
  await why.getByTestId('why-place').first().waitFor()
  expect(await why.getByTestId('why-place').first().textContent()).toContain('assess_severity')
  await expect.poll(() => tab.locator('.tool.lit .tool-name').allTextContents()).toContain('burn_analyst')
  await shot('why')
  await clickAt(why.locator('.claim', { hasText: 'Deploy a BAER team' }))
  await clickAt(why.getByRole('button', { name: 'Show all' }))
  expect(await why.getByTestId('why-place').count()).toBeGreaterThan(2)

  const recorded = (await studio.app.inject(`/sessions/${briefing}/log`)).payload.trimEnd().split('\n')
  const last = recorded.findLastIndex((line) => line.includes('**Fire Severity:**'))
  const planted = recorded.map((line, i) => (i === last ? line.replaceAll('$401,000', '$410,000') : line))
  const headers = { 'content-type': 'application/x-ndjson' }
  const payload = planted.join('\n').replaceAll(briefing, 'planted')
  const brought = await studio.app.inject({ method: 'POST', url: '/sessions/import', headers, payload })
  await open('proof', brought.json().id)
  await why.locator('.figure.unheld').waitFor()
  expect(await why.locator('.figure.unheld').allTextContents()).toEqual(['$410,000'])
  await clickAt(why.locator('.figure.unheld'))
  expect(await why.getByTestId('why-nothing').textContent()).toContain('Nothing in the log before this answer supports')
  expect(await why.getByTestId('why-counts').textContent()).toContain(
    '1 with a figure that nothing in the log supports',
  )
  await shot('why-planted')
})

/** Near the start of a line, because the middle of one that wraps may be between its words. */
const atTheStart = ({ width, height }: { readonly width: number; readonly height: number }) => ({
  x: Math.min(width / 2, 20),
  y: Math.min(height / 2, 8),
})

const clickAt = (target: Locator): Promise<void> => press(tab, target.first(), { spot: atTheStart })
