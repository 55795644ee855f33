import type { RunEvent } from '@millrace/core'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { pointAt, press } from './pointer.ts'
import { studioTests, type Tab } from './studio-page.ts'

/** A step with a graph inside, and one after it. */
const writer = scriptedAgent('writer', function* (): Generator<RunEvent> {
  yield { kind: 'node.started', node: 'write', agent: 'write' }
  yield { kind: 'node.started', node: 'write/draft', agent: 'draft', parent: 'write' }
  yield { kind: 'state', node: 'write/draft', patch: [{ op: 'add', path: '/text', value: 'First words' }] }
  yield { kind: 'node.finished', node: 'write/draft', status: 'ok' }
  yield { kind: 'node.started', node: 'write/check', agent: 'check', parent: 'write' }
  yield { kind: 'node.finished', node: 'write/check', status: 'ok' }
  yield { kind: 'node.finished', node: 'write', status: 'ok' }
  yield { kind: 'node.started', node: 'publish', agent: 'publish' }
  yield* speech('publish', 'Published')
  yield { kind: 'node.finished', node: 'publish', status: 'ok' }
})

const studio = studioTests(0, [writer])
let briefing: string
let opened: Tab
let page: Page

beforeAll(async () => {
  briefing = await studio.run('recovery', 'Prepare a recovery briefing for the Cedar Creek fire')
})
beforeEach(async () => {
  opened = await studio.empty({ viewport: { width: 1440, height: 900 } })
  page = opened.page
})

async function open(session: string): Promise<void> {
  await page.goto(`${studio.address}/s/${session}?panel=flow`)
  await page.getByTestId('flow-node').first().waitFor()
}

/** The size of the smallest text in the graph, in pixels of the screen. */
const smallestText = (): Promise<number> =>
  page.getByTestId('flow-graph').evaluate((graph) => {
    const zoom = new DOMMatrix(getComputedStyle(graph.querySelector('.react-flow__viewport') ?? graph).transform).a
    const texts = [...graph.querySelectorAll('.react-flow__viewport *')].filter(({ childNodes }) =>
      [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== ''),
    )
    return Math.min(...texts.map((each) => Number.parseFloat(getComputedStyle(each).fontSize) * zoom))
  })

test('a node is clicked with the mouse, also at the edge of the room that its layout gave it', async () => {
  await open(briefing)
  const sizes = await page
    .locator('.react-flow__node')
    .evaluateAll((places) =>
      places.map((place) => [place.clientWidth, place.querySelector('button')?.offsetWidth ?? place.clientWidth]),
    )
  expect(sizes.length).toBeGreaterThan(5)
  for (const [given, drawn] of sizes) expect(drawn).toBe(given)
  await press(page, page.getByTestId('flow-node').filter({ hasText: 'coordinator' }))
  await page.getByTestId('moment-bar').waitFor()
})

test('the labels can be read however small the panel is, and the graph is seen whole, also when it is maximised', async () => {
  await open(briefing)
  await expect.poll(smallestText).toBeGreaterThanOrEqual(11)
  const graph = page.getByTestId('flow-graph')
  const inside = (): Promise<boolean> =>
    graph.evaluate((element) => {
      const room = element.getBoundingClientRect()
      return [...element.querySelectorAll('[data-testid="flow-node"]')].every((node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect()
        return left >= room.left && right <= room.right && top >= room.top && bottom <= room.bottom
      })
    })
  // The agents of a team are listed below each other in a narrow panel, so that none is cut.
  await expect.poll(inside).toBe(true)
  expect(await page.getByTestId('flow-cut').count()).toBe(0)
  await press(page, page.getByTestId('maximise'))
  await page.getByRole('log').waitFor({ state: 'hidden' })
  await expect.poll(inside).toBe(true)
  await opened.shot('flow-maximised')
  await press(page, page.getByTestId('maximise'))
  await page.getByRole('log').waitFor()
})

test('an edge shows the keys that were changed along it, and the value in a box that nothing cuts', async () => {
  await open(briefing)
  const last = page.getByTestId('flow-key').filter({ hasText: 'priorities' })
  await expect.poll(() => last.count()).toBe(1)
  await pointAt(page, last)
  const tooltip = page.getByRole('tooltip')
  await tooltip.getByText('priorities', { exact: true }).waitFor()
  const { x, y, width, height } = (await tooltip.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 }
  expect(x >= 0 && y >= 0 && x + width <= 1440 && y + height <= 900).toBe(true)
  expect(await tooltip.evaluate((element) => element.parentElement === document.body)).toBe(true)
  await opened.shot('flow-tooltip')
})

test('a graph inside a step is a box that opens', async () => {
  await open(await studio.run('writer', 'Write'))
  const nodes = page.getByTestId('flow-node')
  expect((await nodes.allTextContents()).map((text) => text.slice(2))).not.toContain('draftdone')
  await press(page, page.getByTestId('flow-box'))
  const draft = nodes.filter({ hasText: 'draft' })
  await draft.waitFor()
  const isInside = async (): Promise<boolean> => {
    const box = await page.locator('.step-place.box.open').boundingBox()
    const inner = await draft.boundingBox()
    if (box === null || inner === null) return false
    return inner.x > box.x && inner.y > box.y && inner.x + inner.width < box.x + box.width
  }
  // The graph moves while the box opens.
  await expect.poll(isInside).toBe(true)
  await opened.shot('flow-box')
  await press(page, page.getByTestId('flow-box'))
  await draft.waitFor({ state: 'detached' })
  await press(page, page.getByTestId('flow-box'))
  await draft.waitFor()
  await press(page, draft)
  await page.getByTestId('moment-bar').waitFor()
  await page.getByTestId('panel-step').waitFor()
})

test('two runs are shown together or one at a time', async () => {
  const session = await studio.run('assistant', 'Add the proverb "Haste makes waste"')
  const messages = [{ id: 'second', role: 'user', content: { role: 'user', parts: [{ text: 'List the proverbs' }] } }]
  await studio.app.inject({
    method: 'POST',
    url: `/sessions/${session}/runs`,
    payload: { agent: 'assistant', input: { messages } },
  })
  await open(session)
  await page.getByText('2×').first().waitFor()
  await page.getByTestId('flow-run').selectOption({ index: 1 })
  await page.getByTestId('flow-graph').getByText('2×').first().waitFor({ state: 'detached' })
  await page.getByTestId('flow-key').filter({ hasText: 'proverbs' }).waitFor()
  await page.getByTestId('flow-run').selectOption({ index: 2 })
  await page.getByTestId('flow-key').waitFor({ state: 'detached' })
})
