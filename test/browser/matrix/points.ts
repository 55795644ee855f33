import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { drawn, intoView } from '../pointer.ts'
import { act, closePanes, openList, openPanel, openTimeline, type Place, reachable, seen, until } from './place.ts'

/** One of the thirteen points of the page: what a person does, and what must then be seen. */
interface Point {
  readonly name: string
  readonly does: string
  readonly sees: string
  try(place: Place): Promise<void>
}

const stepOf = (page: Page): Promise<string | null> => page.getByTestId('step').getAttribute('data-step')
const textOf = async (target: Locator): Promise<string> => (await target.textContent()) ?? ''
const numberOf = (text: string): number => Number(text.replaceAll(',', ''))

async function record(place: Place): Promise<void> {
  const { page, kind } = place
  await act(place, page.getByTestId('message-step').last())
  const known =
    kind === 'imported'
      ? 'step-prompt, step-no-prompt, step-response, step-result'
      : 'step-prompt, step-no-prompt, step-result'
  const ids = known.split(', ').map((id) => `[data-testid="${id}"]`)
  await seen(page.getByTestId('step').locator(ids.join(', ')).first())
}

async function inspector(place: Place): Promise<void> {
  const { page } = place
  await act(place, () => barOf(place))
  await until(() => stepOf(page)).toMatch(/^node /)
  // Until the panels are drawn, it may be the node of the point before.
  await drawn(page)
  const before = await stepOf(page)
  const [back, on] = ['Previous step (k)', 'Next step (j)'].map((name) => page.getByRole('button', { name }))
  const isFirst = await back?.isDisabled()
  const [away, home] = isFirst === true ? [on, back] : [back, on]
  const keys = isFirst === true ? ['j', 'k'] : ['k', 'j']
  if (place.input === 'keyboard') await page.keyboard.press(keys[0] ?? '')
  else await act(place, away as Locator)
  await until(() => stepOf(page)).not.toBe(before)
  if (place.input === 'keyboard') await page.keyboard.press(keys[1] ?? '')
  else await act(place, home as Locator)
  await until(() => stepOf(page)).toBe(before)
  await seen(page.getByTestId('step-figures'))
  await seen(page.getByTestId('step-state'))
}

/** A bar of an agent that can be pressed. So many runs are bands until the person zooms in. */
async function barOf(place: Place): Promise<Locator> {
  const { page } = place
  await openTimeline(place)
  const bars = page.locator('.bar.of-agent[data-testid="bar-agent"]')
  const zoom = zoomButton(page, 'Zoom in')
  await page.locator('.bar').first().waitFor()
  while ((await bars.count()) === 0 && (await zoom.isEnabled())) await act(place, zoom)
  // On a phone the first lanes may have no bar in sight: a person scrolls to one.
  await intoView(bars.last())
  return reachable(bars)
}

/** The flow has buttons of the same names. */
const zoomButton = (page: Page, name: string): Locator =>
  page.getByTestId('timeline').getByRole('button', { name, exact: true })

async function waterfall(place: Place): Promise<void> {
  const { page } = place
  await openTimeline(place)
  const canvas = page.locator('.waterfall .canvas')
  const width = (): Promise<number> => canvas.evaluate((element) => element.clientWidth)
  await act(place, zoomButton(page, 'Fit'))
  await until(() => zoomButton(page, 'Zoom out').isDisabled()).toBe(true)
  const before = await width()
  await act(place, zoomButton(page, 'Zoom in'))
  await until(width).toBeGreaterThan(before * 1.8)
  const bar = await barOf(place)
  const moment = await page.getByTestId('scrubber').inputValue()
  if (place.input === 'mouse') await bar.hover()
  else {
    // A focus by script rings, and tells, only where the keyboard was used last.
    await page.keyboard.press('Shift')
    await bar.focus()
  }
  const tip = page.getByRole('tooltip')
  await tip.waitFor()
  const { x, y, width: w, height } = (await tip.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 }
  const window = page.viewportSize() ?? { width: 0, height: 0 }
  expect(x >= 0 && y >= 0 && x + w <= window.width && y + height <= window.height, `the tooltip at ${x}, ${y}`).toBe(
    true,
  )
  expect(await textOf(tip)).toMatch(/took|state/)
  expect(await page.getByTestId('scrubber').inputValue()).toBe(moment)
  await act(place, zoomButton(page, 'Fit'))
}

async function flow(place: Place): Promise<void> {
  const { page, narrow, input } = place
  const panel = await openPanel(place, 'flow')
  const nodes = panel.locator('[data-testid="flow-node"]:not([disabled])')
  await page.locator('.flow-waiting').waitFor({ state: 'detached' })
  await nodes.first().waitFor()
  if (!narrow) {
    const log = page.getByRole('log')
    for (const state of ['hidden', 'visible'] as const) {
      if (input === 'keyboard') await page.keyboard.press('f')
      else await act(place, page.getByTestId('maximise'))
      await log.waitFor({ state })
    }
  }
  await act(place, () => reachable(nodes))
  await seen(page.getByTestId('step'))
}

async function runOn(place: Place): Promise<void> {
  const { page, kind } = place
  await openPanel(place, 'step')
  await act(place, page.getByTestId('step-state').getByTestId('edit-state'))
  const sheet = page.getByTestId('change-sheet')
  await seen(sheet)
  const plan = (): Promise<string> => textOf(page.getByTestId('change-plan'))
  await until(plan).not.toBe('Looking…')
  expect(await plan()).toMatch(kind === 'imported' ? /Not possible|A new session runs on/ : /A new session runs on/)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
}

async function why(place: Place): Promise<void> {
  const { page } = place
  const panel = await openPanel(place, 'proof')
  const figure = panel.locator('.figure.held').first()
  const [counts, back] = [panel.getByTestId('why-counts'), panel.getByRole('button', { name: 'Previous answer' })]
  const lookedUp = (): Promise<unknown> => until(() => textOf(counts)).not.toBe('Looking up the figures…')
  await drawn(page)
  await lookedUp()
  // The newest answer may have no figures: a planner's plan has none.
  while ((await figure.count()) === 0 && (await back.isEnabled())) {
    await act(place, back)
    await lookedUp()
  }
  await act(place, figure)
  await panel.getByTestId('why-place').first().waitFor()
  await act(place, panel.getByTestId('why-show').first())
  await seen(page.getByTestId('lit-bar'))
  await until(() => textOf(page.getByTestId('lit-bar'))).toMatch(/Card [\d,]+ of [\d,]+/)
  await seen(page.locator('.lit-now'))
  const shown = await textOf(page.getByTestId('lit-bar'))
  await act(place, page.getByTestId('lit-next'))
  if (!shown.includes('of 1 ')) await until(() => textOf(page.getByTestId('lit-bar'))).not.toBe(shown)
  await seen(page.locator('.lit-now'))
}

async function find(place: Place): Promise<void> {
  const { page, input } = place
  if (input === 'mouse') await act(place, page.getByTestId('open-find'))
  else await page.keyboard.press('Control+f')
  const bar = page.getByTestId('find-bar')
  await page.getByTestId('find-input').fill('cedar creek')
  await until(() => textOf(bar)).toMatch(/1 of [\d,]+/)
  if (input === 'mouse') await act(place, page.getByRole('button', { name: 'Next (Enter)' }))
  else await page.keyboard.press('Enter')
  await until(() => textOf(bar)).toMatch(/2 of [\d,]+/)
  await until(() => page.evaluate(isMarkInSight)).toBe(true)
  if (input === 'mouse') await act(place, page.getByRole('button', { name: 'Close (Esc)' }))
  else await page.keyboard.press('Escape')
  await bar.waitFor({ state: 'detached' })
  if (input === 'mouse') {
    await openList(place)
    await act(place, page.getByTestId('open-palette'))
  } else await page.keyboard.press('Control+k')
  const palette = page.getByTestId('palette')
  await page.getByTestId('palette-input').fill('cedar')
  await seen(palette.getByTestId('palette-option').first())
  await until(() => palette.locator('mark').count()).toBeGreaterThan(0)
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'hidden' })
  await closePanes(place)
}

/** The match that a search has gone to is in the window. */
function isMarkInSight(): boolean {
  const [range] = [...(CSS.highlights.get('found-now') ?? [])] as Range[]
  const { left, top, bottom } = range?.getBoundingClientRect() ?? { left: -1, top: -1, bottom: -1 }
  const under = document.elementFromPoint(left + 2, (top + bottom) / 2)
  return range !== undefined && under?.closest('.block-scroller') !== null && under !== null
}

async function problems(place: Place): Promise<void> {
  const panel = await openPanel(place, 'problems')
  await seen(panel.getByRole('region', { name: 'Failures' }).or(panel.getByText('No problems')).first())
  const rows = panel.locator('[data-testid="failure-row"], [data-testid="problem-row"]')
  if ((await rows.count()) > 0) {
    await act(place, rows.first())
    await place.page.getByTestId('moment-bar').waitFor()
  } else await seen(panel.getByText(/follow the contract/))
}

async function wire(place: Place): Promise<void> {
  const { page, cursor } = place
  const panel = await openPanel(place, 'wire')
  await panel.getByTestId('wire-frame').first().waitFor()
  if (cursor === 'scrubbed') {
    const current = panel.locator('.frame.current').last()
    await seen(current)
    const isHere = async (): Promise<boolean> => {
      const at = Number(new URL(page.url()).searchParams.get('at'))
      const shown = Number(await current.getAttribute('data-seq'))
      return shown <= at && shown > at - 40
    }
    await until(isHere).toBe(true)
  }
  await act(place, () => reachable(panel.locator('[data-testid="wire-frame"] > .frame-line')))
  await seen(panel.locator('.frame.open .frame-body').first())
  await act(place, panel.locator('.frame.open > .frame-line').first())
  await panel.locator('.frame.open').first().waitFor({ state: 'detached' })
  await seen(panel.getByTestId('wire-chip').first())
}

async function plan(place: Place): Promise<void> {
  const { page, session, plan: planned, address } = place
  if (planned !== session) {
    await page.goto(`${address}/s/${planned}`)
    await page.locator('.reading').waitFor({ state: 'detached' })
    await page.getByTestId('message-complete').first().waitFor()
  }
  const card = page.getByTestId('plan-card')
  if ((await card.count()) > 0) await seen(card.first())
  const panel = await openPanel(place, 'plan')
  await seen(panel.getByTestId('plan-summary'))
  await seen(panel.getByTestId('plan-task').first())
}

async function handOver(place: Place): Promise<void> {
  const { page, cursor, session } = place
  await act(place, page.getByTestId('share'))
  const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText())
  // The clipboard may have the link of an earlier cell until the new one is written.
  await until(copied).toMatch(
    new RegExp(cursor === 'scrubbed' ? `/s/${session}\\?.*at=\\d+` : `/s/${session}(?!.*at=)`),
  )
  await openList(place)
  await act(place, page.getByTestId('settings'))
  await seen(page.getByTestId('settings-zone'))
  await page.keyboard.press('Escape')
  await page.locator('dialog[open]').waitFor({ state: 'detached' })
  await closePanes(place)
}

async function figures(place: Place): Promise<void> {
  const panel = await openPanel(place, 'usage')
  const rows = panel.getByTestId('usage-row')
  await rows.first().waitFor()
  const sum = async (column: number): Promise<number> => {
    const cells = await rows.locator(`td:nth-of-type(${column})`).allTextContents()
    return cells.reduce((total, text) => total + (text === '–' ? 0 : numberOf(text)), 0)
  }
  const total = async (name: string): Promise<number> => {
    const text = await textOf(panel.locator('.totals div', { hasText: name }).locator('dd').first())
    return text === '–' ? 0 : numberOf(text)
  }
  // A long session is still being read: its totals and its rows are not read in one moment.
  await until(async () => (await total('Tokens')) === (await sum(3))).toBe(true)
  await until(async () => (await total('Model calls')) === (await sum(4))).toBe(true)
  await seen(panel.locator('.totals'))
}

async function words(place: Place): Promise<void> {
  const { page, session, input } = place
  const word = await textOf(page.getByTestId('status'))
  expect(word).toMatch(/^(done|cut off|waiting|failed|cancelled)$/)
  await openList(place)
  const row = page.getByTestId(`session-${session}`)
  await seen(row)
  expect(await textOf(row.locator('.dot'))).toBe(word)
  await closePanes(place)
  if (input === 'keyboard') {
    await page.locator('.skip-link').focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  }
  const panel = await openPanel(place, 'state')
  await seen(panel)
  for (const tab of await page.locator('.tabs .dimmed').all())
    expect(await tab.getAttribute('title')).toContain('nothing yet')
}

export const points: readonly Point[] = [
  { name: 'The record', does: 'opens the step of a message', sees: 'the prompt, or why there is none', try: record },
  {
    name: 'Step inspector',
    does: 'opens a bar, walks to a neighbour and back',
    sees: 'figures and state of the step',
    try: inspector,
  },
  { name: 'Waterfall', does: 'zooms in, points at a bar', sees: 'what the bar is; the cursor stays', try: waterfall },
  { name: 'Flow', does: 'maximises the graph, opens a node', sees: 'the step of the node', try: flow },
  {
    name: 'Change and run on',
    does: 'edits the state of a step',
    sees: 'what would be reused, or why it cannot run',
    try: runOn,
  },
  {
    name: 'Why this answer',
    does: 'chooses a figure, then its place',
    sees: 'the lit card, which of how many it is, and the next one',
    try: why,
  },
  {
    name: 'Find anything',
    does: 'searches the conversation and all sessions',
    sees: 'the second match in the window; marked results',
    try: find,
  },
  {
    name: 'Problems',
    does: 'opens the problems',
    sees: 'failures first, then findings or that there are none',
    try: problems,
  },
  {
    name: 'Wire',
    does: 'opens a frame and closes it',
    sees: 'the frame at the cursor, the data of the frame',
    try: wire,
  },
  { name: 'Plan', does: 'opens the plan', sees: 'the summary and the tasks', try: plan },
  {
    name: 'Hand over',
    does: 'copies the link, opens the settings',
    sees: 'the session and the moment in the link',
    try: handOver,
  },
  { name: 'Figures that agree', does: 'opens the usage', sees: 'totals that are the sums of their rows', try: figures },
  {
    name: 'Words and order',
    does: 'reads the state in header and list, skips to the content',
    sees: 'one word for the state',
    try: words,
  },
]
