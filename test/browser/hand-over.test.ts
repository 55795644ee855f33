import { readFile } from 'node:fs/promises'
import type { AdkPart, RunEvent } from '@millrace/core'
import { beforeAll, expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { press } from './pointer.ts'
import { studioTests, type Tab } from './studio-page.ts'

const studio = studioTests(0)
const wide = { viewport: { width: 1440, height: 900 } }
let briefing: string
let imported: string
let long: string

beforeAll(async () => {
  briefing = await studio.run('recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  imported = await studio.bring('adk', 'javascript-flavour')
  long = await longSession(full ? 100_000 : 2000)
})

/** An imported log with runs of an agent, its model calls and its tools: 20 rows each. */
async function longSession(rows: number): Promise<string> {
  const lines = Array.from({ length: rows }, (_, i) => {
    const run = `r${Math.floor(i / 20)}`
    return JSON.stringify({ seq: i + 1, at: 1_767_000_000_000 + i * 50, run, event: eventAt(i % 20, run) })
  })
  const about = { id: 'x', user: 'user', agent: 'worker', title: 'A long session', status: 'done', runs: rows / 20 }
  const counts = { lastSeq: rows, events: rows, createdAt: 0, updatedAt: 0 }
  const header = JSON.stringify({ format: 'millrace.session', version: 1, session: { ...about, ...counts } })
  const answer = await studio.app.inject({
    method: 'POST',
    url: '/sessions/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: [header, ...lines].join('\n'),
  })
  expect(answer.statusCode, answer.body).toBe(201)
  return (answer.json() as { id: string }).id
}

function eventAt(place: number, run: string): RunEvent {
  const node = 'worker@1'
  const said = (message: string, parts: readonly AdkPart[]): RunEvent => ({
    kind: 'agent',
    message,
    node,
    event: {
      id: message,
      author: 'worker',
      invocationId: run,
      timestamp: 1_767_000_000_000,
      content: { role: 'model', parts },
    },
  })
  const call = `c${Math.floor(place / 4)}`
  if (place === 0)
    return {
      kind: 'run.started',
      agent: 'worker',
      input: { messages: [{ id: 'q', role: 'user', content: { role: 'user', parts: [{ text: 'Go on' }] } }] },
    }
  if (place === 1) return { kind: 'node.started', node, agent: 'worker' }
  if (place === 18) return { kind: 'node.finished', node, status: 'ok' }
  if (place === 19) return { kind: 'run.finished', outcome: 'done' }
  if (place % 4 === 2) return { kind: 'model.started', call, agent: 'worker', model: 'gpt-4o', tools: 1, node }
  if (place % 4 === 3)
    return { kind: 'model.finished', call, status: 'ok', duration: 40, usage: { totalTokens: 100 }, node }
  if (place % 4 === 0) return said(`m${place}`, [{ functionCall: { id: call, name: 'measure', args: { place } } }])
  return said(`m${place}`, [
    { functionResponse: { id: `c${Math.floor((place - 1) / 4)}`, name: 'measure', response: { acres: 4711 } } },
  ])
}

test('a person rates an answer and a step, writes a note, and takes them back', async () => {
  const tab = await studio.open(`/s/${briefing}`, wide)
  const { page } = tab
  const bar = page.locator('.conversation, main').getByTestId('feedback').last()
  await press(page, bar.getByTestId('feedback-down'))
  await page.locator('.message [data-testid="feedback-down"][aria-pressed="true"]').waitFor()
  await press(page, bar.getByTestId('feedback-note'))
  await page.keyboard.type('Which map is this?')
  await press(page, page.getByTestId('feedback-save'))
  await page.getByTestId('feedback-given').getByText('Which map is this?').waitFor()
  await tab.shot('feedback')
  await page.reload()
  await page.getByTestId('feedback-given').getByText('Which map is this?').waitFor()
  await page.getByTestId('message-step').last().scrollIntoViewIfNeeded()
  await press(page, page.getByTestId('message-step').last())
  const step = page.getByTestId('step').getByTestId('feedback')
  await press(page, step.getByTestId('feedback-up'))
  await step.locator('[data-testid="feedback-up"][aria-pressed="true"]').waitFor()
  await press(page, step.getByTestId('feedback-up'))
  await step.locator('[data-testid="feedback-up"][aria-pressed="false"]').waitFor()
})

test('the report of a session opens without the server, and asks for nothing', async () => {
  const tab = await studio.open(`/s/${briefing}`, wide)
  const [download] = await Promise.all([
    tab.page.waitForEvent('download'),
    press(tab.page, tab.page.getByTestId('report')),
  ])
  const text = await readFile(await download.path(), 'utf8')
  const report = await studio.empty({ viewport: { width: 900, height: 1200 } })
  const asked: string[] = []
  report.page.on('request', (request) => asked.push(request.url()))
  await report.page.setContent(text)
  for (const name of ['Figures in the answer', 'Evidence', 'Sources', 'Timeline', 'Gaps and problems', 'Models'])
    await report.page.getByRole('heading', { name }).first().waitFor()
  // A figure is one word, and its sentence is words and not their markup.
  const claims = report.page.locator('tr', { has: report.page.locator('td.claim') })
  const big = claims.filter({ has: report.page.getByText('127,311', { exact: true }) }).first()
  expect(
    await big
      .locator('strong')
      .first()
      .evaluate((figure) => figure.getClientRects().length),
  ).toBe(1)
  expect(await claims.filter({ hasText: '**' }).count()).toBe(0)
  expect(asked).toEqual([])
  expect(await report.page.locator('script, img, link, iframe').count()).toBe(0)
  await report.shot('report')
})

test('a deleted session is back after undo, and after a reload', async () => {
  const { page } = await studio.open(`/s/${imported}`, wide)
  const remove = async (): Promise<void> => {
    const row = page.locator('.session[aria-current="page"]')
    await row.hover()
    await press(page, row.getByRole('button', { name: /^Actions/ }))
    await press(page, page.getByRole('menuitem', { name: 'Delete' }))
    await row.waitFor({ state: 'detached' })
  }
  await page.getByTestId('message-complete').first().waitFor()
  await remove()
  await press(page, page.getByTestId('undo'))
  await page.getByTestId('message-complete').first().waitFor()
  await remove()
  await page.reload()
  await press(page, page.getByTestId('settings'))
  await press(page, page.getByTestId('removed').getByRole('button', { name: 'Restore' }))
  await page.locator(`[data-testid="session-${imported}"]`).waitFor()
})

test('prices of this browser give calls a cost, wherever tokens are', async () => {
  const { page } = await studio.open(`/s/${briefing}?panel=usage`, wide)
  await page.getByTestId('usage-models').getByText('offline').waitFor()
  await press(page, page.getByTestId('settings'))
  await press(page, page.getByTestId('price-model'))
  await page.keyboard.type('offline')
  await page.keyboard.press('Enter')
  await page.getByLabel('Input of offline').fill('2')
  await page.keyboard.press('Escape')
  const row = page.getByTestId('usage-models').locator('tbody tr')
  await expect.poll(() => row.textContent()).toMatch(/\$\d/)
  const cost = /\$[\d.]+/.exec((await row.textContent()) ?? '')?.[0] ?? 'no cost'
  await expect.poll(() => page.locator('.usage-panel .totals').textContent()).toContain(cost)
})

const panels = ['step', 'flow', 'wire', 'problems', 'proof', 'usage'] as const
const sizes = [
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1920, height: 1080, colorScheme: 'light' },
  { width: 1920, height: 1080, colorScheme: 'dark' },
  { width: 768, height: 1024, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const

/** Labels below 11 px, and elements that stick out of the window. */
function faults(): readonly string[] {
  const found: string[] = []
  for (const element of document.querySelectorAll<HTMLElement>('body *')) {
    const box = element.getBoundingClientRect()
    if (box.width === 0 || box.height === 0) continue
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && (node.textContent ?? '').trim() !== '')
    if (!own || element.closest('.visually-hidden, svg, .react-flow__viewport') !== null) continue
    const size = Number.parseFloat(getComputedStyle(element).fontSize)
    if (size < 10.99) found.push(`${size} px: ${element.className} ${(element.textContent ?? '').slice(0, 40)}`)
  }
  const out = document.documentElement.scrollWidth - innerWidth
  if (out > 0) found.push(`the page is ${out} px wider than the window`)
  return [...new Set(found)]
}

test.each(full ? sizes : sizes.slice(1, 3))(
  'every panel at $width px in $colorScheme: no small label, nothing sticks out',
  async (size) => {
    const { width, height, colorScheme } = size
    const open = (path: string): Promise<Tab> => studio.open(path, { viewport: { width, height }, colorScheme })
    const tab = await open(`/s/${briefing}`)
    const seen: string[] = []
    for (const [name, session] of Object.entries({ briefing, imported, long })) {
      // The small form looks at one session in each size.
      if (!full && (name === 'imported') !== (width === 390 && colorScheme === 'dark') && name !== 'long') continue
      for (const panel of panels) {
        await tab.page.goto(`${studio.address}/s/${session}?panel=${panel}`)
        await tab.page.locator('.shell').waitFor()
        await tab.page.locator('.reading').waitFor({ state: 'detached' })
        await tab.page.locator('.inspector [role="tabpanel"] > :not(.panel-loading)').first().waitFor()
        const wrong = await tab.page.evaluate(faults)
        seen.push(...wrong.map((each) => `${name} ${panel}: ${each}`))
        await tab.shot(`${name}-${panel}-${width}-${colorScheme}`)
      }
    }
    expect(seen).toEqual([])
  },
)
