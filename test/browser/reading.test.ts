import { randomUUID } from 'node:crypto'
import type { AdkPart, Recorded, RunEvent } from '@millrace/core'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { pointAt, press } from './pointer.ts'
import { studioTests, type Tab } from './studio-page.ts'

const said = (message: string, parts: readonly AdkPart[], more: object = {}): RunEvent => ({
  kind: 'agent',
  message,
  node: 'desk@1',
  event: { id: message, author: 'desk', invocationId: 'r', timestamp: 1, content: { role: 'model', parts }, ...more },
})

/** A tool that fails, then half a sentence, then the end. */
const faulty = scriptedAgent('faulty', function* (): Generator<RunEvent> {
  yield { kind: 'node.started', node: 'desk@1', agent: 'desk' }
  yield said('call', [{ functionCall: { id: 'c1', name: 'book_room', args: {} } }])
  yield said('answer', [{ functionResponse: { id: 'c1', name: 'book_room', response: { error: 'no room is free' } } }])
  yield said('text', [{ text: 'The hotel' }], { partial: true })
  throw new Error('the model went away')
})

/** Works until it is stopped. */
const tireless = scriptedAgent('tireless', async function* (_input, { signal }): AsyncGenerator<RunEvent> {
  yield { kind: 'node.started', node: 'tireless@1', agent: 'tireless' }
  yield* speech('tireless', 'I go on')
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
})

const studio = studioTests(0, [faulty, tireless])
let briefing: string
let opened: Tab
let page: Page

beforeAll(async () => {
  briefing = await studio.run('recovery', 'Prepare a recovery briefing for the Cedar Creek fire')
})
beforeEach(async () => {
  opened = await studio.empty({ viewport: { width: 1440, height: 1000 } })
  page = opened.page
})

async function open(path: string): Promise<void> {
  await page.goto(`${studio.address}${path}`)
  await page.locator('.shell').waitFor()
}
const cursor = (): Promise<string> => page.getByTestId('scrubber').inputValue()

test('what failed comes first, with its step, and is counted on the tab', async () => {
  await open(`/s/${await studio.run('faulty', 'Book')}`)
  await expect.poll(() => page.getByTestId('problem-badge').textContent()).toBe('2 failed')
  await press(page, page.locator('#tab-problems'))
  const failures = page.getByTestId('failure-row')
  await failures.first().waitFor()
  const texts = await failures.allTextContents()
  expect(texts[0]).toContain('the model went away')
  expect(texts[1]).toMatch(/Tool book_room failed.*in desk.*no room is free/)
  await opened.shot('reading-failures')
  expect(await page.getByText('the model went away').count()).toBe(2)
  const text = await page.getByText('The hotel').boundingBox()
  const error = await page.getByTestId('run-error').boundingBox()
  expect(text?.y).toBeLessThan(error?.y ?? 0)
  await press(page, failures.nth(1))
  await page.getByTestId('moment-bar').waitFor()
})

test('a call that a person rejects is rejected: it did not fail, and it took no time', async () => {
  await open(`/s/${await studio.run('assistant', 'Delete all proverbs')}?panel=problems`)
  await press(page, page.getByTestId('interrupt-reject'))
  await expect.poll(() => page.getByTestId('status').textContent()).toBe('done')
  const card = page.getByTestId('status-function-call').first()
  await expect.poll(() => card.locator('summary').textContent()).toBe('delete_all_proverbsrejected')
  await page.getByTestId('panel-problems').getByText('No problems').waitFor()
})

const crash = { code: 'crashed', message: 'the server stopped while this run was active' } as const

test('a run that a crash cut off ends at its last event, and the pause after it is a break', async () => {
  const event = (seq: number, at: number, each: RunEvent): Recorded => ({
    seq,
    at: 1_767_000_000_000 + at,
    run: 'r',
    event: each,
  })
  const rows = [
    event(1, 0, { kind: 'run.started', agent: 'desk', input: { messages: [] } }),
    event(2, 10, { kind: 'node.started', node: 'desk@1', agent: 'desk' }),
    event(3, 2000, said('text', [{ text: 'Half a' }])),
    // The next start of the server ends the open steps, too.
    event(4, 600_000, { kind: 'node.finished', node: 'desk@1', status: 'error', error: crash }),
    event(5, 600_000, { kind: 'run.finished', outcome: 'failed', error: crash }),
  ]
  const about = { id: 'x', user: 'user', agent: 'desk', title: 'Cut', status: 'failed', lastSeq: 5, events: 5, runs: 1 }
  const header = { format: 'millrace.session', version: 1, session: { ...about, createdAt: 0, updatedAt: 0 } }
  const answer = await studio.app.inject({
    method: 'POST',
    url: '/sessions/import',
    headers: { 'content-type': 'text/plain' },
    payload: [header, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  expect(answer.statusCode, answer.body).toBe(201)
  await open(`/s/${answer.json().id}`)
  const bar = page.getByTestId('bar-agent')
  await bar.waitFor()
  await expect.poll(() => bar.getAttribute('aria-label')).toBe('desk, cut off, 2.0 s, events 2 to 3')
  expect(await page.getByTestId('timeline-break').count()).toBe(1)
  const node = page.getByTestId('flow-node').filter({ hasText: 'desk' })
  expect([await node.textContent(), await node.getAttribute('data-status')]).toEqual(['DEdeskcut off', 'interrupted'])
  const end = page.getByTestId('message-complete')
  expect(await end.textContent()).toContain('cut off')
  expect(await end.locator('time').getAttribute('datetime')).toBe(new Date(1_767_000_002_000).toISOString())
  await press(page, page.locator('#tab-step'))
  await page.getByTestId('step').waitFor()
  expect(await page.getByTestId('panel-step').textContent()).not.toContain('10 m')
  await opened.shot('reading-cut-off')

  // The list has the same word in the same colour, and its filter finds the session under it.
  const id = answer.json().id
  const dot = page.getByTestId(`session-${id}`).locator('.dot')
  expect(await dot.textContent()).toBe('cut off')
  const colour = await end.locator('.pill').evaluate((pill) => getComputedStyle(pill).color)
  expect(await dot.evaluate((each) => getComputedStyle(each).backgroundColor)).toBe(colour)
  await press(page, page.getByTestId('show-filters'))
  await page.getByTestId('filter-status').selectOption('failed')
  await expect.poll(() => page.getByTestId(`session-${id}`).count()).toBe(0)
  await page.getByTestId('filter-status').selectOption('cut off')
  await page.getByTestId(`session-${id}`).waitFor()
  await open(`/s/${briefing}?compare=${id}`)
  await expect.poll(() => page.getByRole('row', { name: /^Run time/ }).textContent()).toMatch(/[ms]2\.0 s/)
})

test('without a connection the page says what it knows, and nothing moves', async () => {
  const id = randomUUID()
  await studio.app.inject({ method: 'POST', url: '/sessions', payload: { id, agent: 'tireless', title: 'Go on' } })
  const input = { messages: [{ id: 'm', role: 'user', content: { role: 'user', parts: [{ text: 'Go on' }] } }] }
  await studio.app.inject({ method: 'POST', url: `/sessions/${id}/runs`, payload: { agent: 'tireless', input } })
  await open(`/s/${id}`)
  await page.getByText('I go on').waitFor()
  const bar = page.locator('.bar.running').first()
  await bar.waitFor()
  await page.context().setOffline(true)
  studio.app.server.closeAllConnections()
  const banner = page.getByTestId('banner')
  await banner.waitFor()
  expect(await banner.textContent()).toBe('Connection lost. Reconnecting… Everything received so far is saved.')
  await expect.poll(() => bar.evaluate((element) => getComputedStyle(element).animationPlayState)).toBe('paused')
  await opened.shot('reading-offline')
  await page.context().setOffline(false)
  await banner.waitFor({ state: 'detached' })
  await studio.app.inject({ method: 'POST', url: `/sessions/${id}/cancel`, payload: {} })
  await expect.poll(() => page.getByTestId('status').textContent()).toBe('cancelled')
  // The browser reports each request that the lost connection refused.
  opened.noise.splice(0, opened.noise.length, ...opened.noise.filter((line) => !line.includes('net::ERR_')))
})

test('the waterfall shows runs, steps, model calls and tools, and pointing at a bar never moves the cursor', async () => {
  await open(`/s/${briefing}?at=40`)
  await page.getByTestId('bar-model').first().waitFor()
  const drawn = { state: 'attached' } as const
  for (const kind of ['run', 'agent', 'tool']) await page.getByTestId(`bar-${kind}`).first().waitFor(drawn)
  await page.locator('.bar.critical').nth(3).waitFor(drawn)
  await page.locator('.first-token').first().waitFor(drawn)
  await pointAt(page, page.getByTestId('bar-agent').nth(1))
  const tooltip = page.getByRole('tooltip')
  await tooltip.getByText('took').waitFor()
  expect(await cursor()).toBe('40')
  await opened.shot('reading-waterfall')
  await press(page, page.getByTestId('bar-agent').nth(1))
  await expect.poll(cursor).not.toBe('40')
  await press(page, page.getByTestId('timeline-calls'))
  await page.getByTestId('bar-model').first().waitFor({ state: 'detached' })
})

test('the wire lands on the event of the link, follows the end unless it is scrolled, and filters by type', async () => {
  await open(`/s/${briefing}?panel=wire&at=60`)
  const current = page.locator('.frame.current').last()
  await current.waitFor()
  await expect.poll(() => current.getAttribute('data-seq')).toBe('60')
  await pointAt(page, current)
  const heads = await page.locator('.frame-heads').textContent()
  expect(heads).toBe('#timeΔsizetypedata')
  await page.keyboard.press('Escape')
  const last = page.getByTestId('wire-frame').last()
  await expect.poll(() => last.textContent()).toContain('RUN_FINISHED')
  await page.mouse.wheel(0, -600)
  await press(page, page.getByTestId('wire-latest'))
  await expect.poll(() => last.textContent()).toContain('RUN_FINISHED')
  await press(page, page.getByTestId('wire-chip').filter({ hasText: 'TOOL_CALL_START' }))
  const names = page.locator('.frames .frame-name')
  await expect.poll(async () => new Set(await names.allTextContents())).toEqual(new Set(['TOOL_CALL_START']))
  await page.getByTestId('wire-beside').selectOption('studio')
  await expect.poll(() => page.getByTestId('wire-column').count()).toBe(2)
  await page.getByTestId('wire-column').nth(1).getByText('trace', { exact: true }).first().waitFor()
  await opened.shot('reading-wire')
})

test('a plan is executed where it was made, and the next run says who began it', async () => {
  await open(`/s/${await studio.run('planner', 'Plan a product launch')}`)
  await press(page, page.getByTestId('plan-card-execute'))
  expect(await page.getByTestId('run-cause').textContent()).toContain('You executed the plan')
  await page.getByTestId('plan-card').getByText('3 of 3 done').waitFor()
  await opened.shot('reading-plan')
})

test('a link with the cursor is copied, and times are those of the chosen zone', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await open(`/s/${briefing}?at=30&panel=wire`)
  await page.getByTestId('moment-bar').waitFor()
  await press(page, page.getByTestId('share'))
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe(`${studio.address}/s/${briefing}?at=30&panel=wire`)
  await page.keyboard.press('Escape')
  const time = page.getByTestId('message-complete').locator('time').last()
  const inZone = async (zone: string): Promise<string> => {
    await press(page, page.getByTestId('settings'))
    await page.getByTestId('settings-zone').selectOption(zone)
    await page.keyboard.press('Escape')
    return (await time.textContent()) ?? ''
  }
  const [utc, tokyo] = [await inZone('UTC'), await inZone('Asia/Tokyo')]
  expect((Number(tokyo.slice(0, 2)) - Number(utc.slice(0, 2)) + 24) % 24).toBe(9)
})

test('two sessions are compared word by word, and their first difference has a name', async () => {
  const other = await studio.run('recovery', 'How severe was the Cedar Creek burn?')
  await open(`/s/${briefing}?compare=${other}`)
  expect(await page.getByTestId('divergence').textContent()).toContain('First difference: your first message')
  await page.locator('.word-difference ins').first().waitFor()
  await opened.shot('reading-compare')
})

test('in a comparison, cards have the words and times of their conversation, and open the steps of their own session', async () => {
  const cards = (scope: string) => page.locator(`${scope} .tool`, { hasText: 'fire_id:cedar-creek-2022' })
  await open(`/s/${briefing}`)
  await page.getByTestId('message-complete').waitFor()
  await page.locator('.block-scroller').evaluate((element) => element.scrollTo(0, 0))
  await cards('.block-scroller').nth(3).waitFor()
  const shown = (await cards('.block-scroller').locator('summary').allTextContents()).slice(0, 4)
  const other = await studio.run('assistant', 'Delete all proverbs')
  await open(`/s/${other}`)
  await press(page, page.getByTestId('interrupt-reject'))
  await page.locator('.tool.rejected').waitFor()
  await page.setViewportSize({ width: 768, height: 1024 })
  await open(`/s/${briefing}?compare=${other}`)
  await cards('.compare').nth(3).waitFor()
  expect((await cards('.compare').locator('summary').allTextContents()).slice(0, 4)).toEqual(shown)
  const pair = page.locator('.pair', { hasText: 'delete_all_proverbs' })
  const rejected = pair.locator('.tool')
  expect(await rejected.locator('summary').textContent()).toBe('delete_all_proverbsrejected')
  const sticksOut = await page.locator('.compare .tool .pill').evaluateAll(
    (pills) =>
      pills.filter((pill) => {
        const { right = 0 } = pill.closest('.tool')?.getBoundingClientRect() ?? {}
        return pill.getBoundingClientRect().right > right
      }).length,
  )
  expect(sticksOut).toBe(0)
  await press(page, pair.getByTestId('message-step'))
  await page.getByTestId('panel-step').getByText('delete_all_proverbs').first().waitFor()
  expect(new URL(page.url()).pathname).toBe(`/s/${other}`)
  await page.goBack()
  await rejected.waitFor()
})

test('a link to no session and a link to no page have pages of their own', async () => {
  await open('/s/no-such-session')
  await page.getByTestId('unknown-place').getByText('There is no such session').waitFor()
  await press(page, page.getByTestId('unknown-place').getByRole('button'))
  await page.getByTestId('agent-recovery').waitFor()
  await open('/no/such/page')
  await page.getByTestId('unknown-place').getByText('There is no such page').waitFor()
  await opened.shot('reading-unknown')
  await press(page, page.getByTestId('unknown-place').getByRole('button'))
  await page.getByTestId('agent-recovery').waitFor()
  opened.noise.splice(0, opened.noise.length, ...opened.noise.filter((line) => !line.includes('status of 404')))
})

test('the keyboard skips the list of sessions, recovery is the first agent, and no two agents look the same', async () => {
  await open('/')
  await page.getByTestId('agent-recovery').waitFor()
  const cards = page.locator('.agent-card')
  expect(await cards.first().getAttribute('data-testid')).toBe('agent-recovery')
  const letters = await cards.locator('.avatar').allTextContents()
  expect(new Set(letters).size).toBe(letters.length)
  await page.locator('body').press('Shift+Tab')
  await page.locator('.skip-link').focus()
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
})
