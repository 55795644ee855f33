import type { RunEvent } from '@millrace/core'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { press } from './pointer.ts'
import { ask, studioTests } from './studio-page.ts'

/** Asks before it books, and repeats the answer. */
const booking = scriptedAgent('booking', function* (input) {
  const [answer] = input.resume ?? []
  if (answer !== undefined) return yield* speech('booking', `Told: ${JSON.stringify(answer.payload ?? answer.status)}`)
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, nights: { type: 'integer' }, class: { enum: ['plain', 'fine'] } },
    required: ['city', 'nights'],
  }
  const args = { city: 'Lisbon', nights: 3, breakfast: true, tags: ['quiet'] }
  if (textOf(input) === 'Choose') {
    const payload = { question: 'Which one?', offer: 'A room\nwith a view', options: ['plain', 'fine'] }
    yield { kind: 'interrupt', id: 'q', reason: 'input_required', message: 'Which one?', payload }
  } else if (textOf(input) === 'Book') {
    yield { kind: 'interrupt', id: 'q', reason: 'confirmation', message: 'Book it?', payload: { tool: 'book', args } }
  } else yield { kind: 'interrupt', id: 'q', reason: 'input_required', message: 'Where to?', schema }
  yield { kind: 'run.finished', outcome: 'interrupted' }
})

/** Two tool calls that LangChain's human-in-the-loop middleware stops, with the decisions that their author allows. */
const reviewed = scriptedAgent('reviewed', function* (input) {
  const [answer] = input.resume ?? []
  if (answer !== undefined) return yield* speech('reviewed', `Told: ${JSON.stringify(answer.payload)}`)
  const payload = {
    actionRequests: [
      { name: 'send_mail', args: { to: 'ada@example.com', urgent: false }, description: 'Writes to a customer' },
      { name: 'delete_row', args: { id: 7 } },
    ],
    reviewConfigs: [
      { actionName: 'send_mail', allowedDecisions: ['approve', 'edit', 'reject'] },
      { actionName: 'delete_row', allowedDecisions: ['approve', 'reject'] },
    ],
  }
  yield { kind: 'interrupt', id: 'q', reason: 'input_required', message: 'Two calls wait', payload }
  yield { kind: 'run.finished', outcome: 'interrupted' }
})

/** What a hostile page, or a model that read one, would write. */
const attack = [
  '<script>window.attacked = 1</script>',
  '<img src="https://evil.example/a.png" onerror="window.attacked = 2">',
  '![seen](https://evil.example/b.png)',
  '[press me](javascript:window.attacked=3)',
  '[or me](data:text/html,<script>1</script>)',
  '<a href="javascript:window.attacked=4">raw link</a>',
  '<iframe src="https://evil.example"></iframe>',
  '<svg onload="window.attacked = 5"></svg>',
  '<style>body { display: none }</style>',
].join('\n\n')
const hostile = scriptedAgent('hostile', () => speech('hostile', attack))

/** Two agents that have each said more than their lane has room for, one in full, and a run that goes on. */
const team = scriptedAgent('team', async function* (_input, { signal }): AsyncGenerator<RunEvent> {
  const text = Array.from({ length: 60 }, (_, i) => `Line ${i + 1} of a long finding.`).join('\n\n')
  for (const [author, partial] of [
    ['scout', false],
    ['clerk', true],
  ] as const) {
    const content = { role: 'model', parts: [{ text }] }
    const about = { id: author, author, invocationId: 'i', timestamp: 1, branch: `team.${author}` }
    yield { kind: 'agent', message: author, event: { ...about, content, partial } }
  }
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
})

const gate = { open: (): void => undefined }

/** Counts to twenty, and on to 200 once the test wants it to: however slow a page is, the run is still under way. */
const counter = scriptedAgent('counter', async function* (_input, { signal }): AsyncGenerator<RunEvent> {
  const numbers = Array.from({ length: 200 }, (_, i) => i + 1)
  const words = [...speech('counter', numbers.join(' '))]
  yield* words.slice(0, 20)
  await new Promise<void>((resolve) => {
    gate.open = resolve
    signal.addEventListener('abort', () => resolve())
  })
  if (!signal.aborted) yield* words.slice(20)
})

const studio = studioTests(200, [booking, reviewed, hostile, team, counter])

test('specialists that work at the same time are shown side by side, each under its name', async () => {
  const tab = await studio.open()
  await ask(tab, 'recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  await tab.page.getByTestId('lanes').waitFor()
  await tab.shot('parallel')
  await tab.page.getByTestId('message-complete').waitFor()
  const authors = await tab.page.getByTestId('message-author').allTextContents()
  for (const name of ['coordinator', 'burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor']) {
    expect(authors).toContain(name)
  }
  await tab.shot('briefing')
})

test('a lane shows at its edge that there is more to scroll to, while the team works', async () => {
  const tab = await studio.open()
  await ask(tab, 'team', 'Look around')
  const { page } = tab
  const lanes = page.locator('.lane')
  await expect.poll(() => lanes.count()).toBe(2)
  const [scout, clerk] = [lanes.nth(0), lanes.nth(1)]
  await tab.shot('lanes-with-more')
  // What is complete is read from its top; of what streams in, the end is shown.
  await expect.poll(() => edgesOf(scout)).toEqual(['below'])
  await expect.poll(() => edgesOf(clerk)).toEqual(['above'])
  await scout.locator('.lane-body').hover()
  await page.mouse.wheel(0, 200)
  await expect.poll(() => edgesOf(scout)).toEqual(['above', 'below'])
  await page.mouse.wheel(0, 20_000)
  await expect.poll(() => edgesOf(scout)).toEqual(['above'])
  await page.getByTestId('stop-button').click()
  await page.getByTestId('message-complete').waitFor()
  // Afterwards the lanes have all of it.
  await expect.poll(async () => [await edgesOf(scout), await edgesOf(clerk)]).toEqual([[], []])
})

/** The edges of a lane where its text fades out. */
const edgesOf = (lane: Locator): Promise<readonly string[]> =>
  lane.evaluate((element) => {
    const header = element.querySelector('header')
    if (header === null) throw new Error('a lane has a header')
    const isDrawn = (each: Element): boolean => getComputedStyle(each, '::after').backgroundImage !== 'none'
    return [...(isDrawn(header) ? ['above'] : []), ...(isDrawn(element) ? ['below'] : [])]
  })

test('a page that is loaded again in the middle of a run joins it and loses nothing', async () => {
  const tab = await studio.open()
  await ask(tab, 'counter', 'Count to 200')
  await tab.page.getByText('19 20', { exact: false }).first().waitFor()
  await tab.page.reload()
  await tab.page.getByText('19 20', { exact: false }).first().waitFor()
  gate.open()
  await tab.page.getByTestId('message-complete').waitFor()
  const said = await tab.page.locator('.markdown').last().textContent()
  const numbers = (said?.match(/\d+/g) ?? []).map(Number)
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
})

test('stop ends the run, and the page says so', async () => {
  const tab = await studio.open()
  await ask(tab, 'counter', 'Count to 200')
  await tab.page.getByText('2 3', { exact: false }).first().waitFor()
  await tab.page.getByTestId('stop-button').click()
  await tab.page.getByTestId('message-complete').waitFor()
  await expect.poll(() => tab.page.getByTestId('status').textContent()).toBe('cancelled')
  await tab.page.getByTestId('send-button').waitFor()
})

test.each([
  ['approve', 'interrupt-approve', 'approved'],
  ['reject', 'interrupt-reject', 'rejected'],
])('a question is answered on the page: %s', async (name, button, answer) => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Delete all proverbs')
  await tab.page.getByTestId(button).waitFor()
  await expect.poll(() => tab.page.getByTestId('status').textContent()).toBe('waiting')
  await tab.shot(`interrupt-${name}`)
  await tab.page.getByTestId(button).click()
  await tab.page.getByTestId('message-complete').nth(1).waitFor()
  expect(await tab.page.getByTestId('interrupt-answer').textContent()).toBe(answer)
  await expect.poll(() => tab.page.getByTestId('status').textContent()).toBe('done')
})

test('a run that fails says why', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Simulate a model failure')
  await tab.page.getByTestId('run-error').waitFor()
  await expect.poll(() => tab.page.getByTestId('status').textContent()).toBe('failed')
  await tab.shot('failed')
})

test('an edited message runs in a fork; what was recorded stays', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Hello')
  await tab.page.getByTestId('message-complete').waitFor()
  const first = tab.page.url()
  await tab.page.getByTestId('edit-message').click()
  await tab.page.getByTestId('change-sheet').getByLabel('Message').fill('What is 17 * 23?')
  await tab.page.getByTestId('change-run').click()
  await tab.page.waitForURL((url) => url.href !== first)
  await tab.page.getByText('17 * 23 = 391').first().waitFor()
  await tab.page.goto(first)
  await tab.page.getByTestId('message-complete').waitFor()
  expect(await tab.page.locator('.bubble').allTextContents()).toEqual(['Hello'])
})

test('a call is approved with other arguments', async () => {
  const tab = await studio.open()
  const { page } = tab
  await ask(tab, 'booking', 'Book')
  await page.getByTestId('interrupt-edit').click()
  await page.getByLabel('city').fill('Porto')
  await page.getByLabel('nights').fill('5')
  await page.getByLabel('breakfast').uncheck()
  await page.getByLabel('tags').fill('["quiet", ')
  await page.getByTestId('interrupt-approve').click()
  await page.getByText('tags: not valid JSON').waitFor()
  await page.getByLabel('tags').fill('["view"]')
  await tab.shot('interrupt-edit')
  await page.getByTestId('interrupt-approve').click()
  await page
    .getByText('"args":{"city":"Porto","nights":5,"breakfast":false,"tags":["view"]}', { exact: false })
    .waitFor()
  expect(await page.getByTestId('interrupt-answer').textContent()).toBe('approved, edited')
})

test('each of two calls gets its own decision: one is edited in typed fields, one is rejected with a reason', async () => {
  const tab = await studio.open()
  const { page } = tab
  await ask(tab, 'reviewed', 'Write and delete')
  await page.getByTestId('interrupt-reject').nth(1).waitFor()
  expect(await page.getByTestId('interrupt-edit').count()).toBe(1)
  await tab.shot('decisions')
  await page.getByTestId('interrupt-edit').click()
  await page.getByRole('textbox', { name: 'to', exact: true }).fill('grace@example.com')
  await page.getByLabel('urgent').check()
  await page.getByTestId('interrupt-send').click()
  await page.getByText('Choose a decision for each call').waitFor()
  await page.getByTestId('interrupt-reject').nth(1).click()
  await page.getByLabel('Why delete_row is rejected (optional)').fill('It is still needed')
  await tab.shot('decisions-made')
  await page.getByTestId('interrupt-send').click()
  const told = `Told: ${JSON.stringify({
    decisions: [
      { type: 'edit', editedAction: { name: 'send_mail', args: { to: 'grace@example.com', urgent: true } } },
      { type: 'reject', message: 'It is still needed' },
    ],
  })}`
  await page.getByText(told).first().waitFor()
})

test('a question with a schema is a form, and what is missing is said', async () => {
  const tab = await studio.open()
  const { page } = tab
  await ask(tab, 'booking', 'Ask me')
  await page.getByLabel('nights').fill('2')
  await page.getByLabel('class').selectOption('fine')
  await page.getByTestId('interrupt-approve').click()
  await page.getByText('city is required').waitFor()
  await page.getByLabel('city').fill('Faro')
  await tab.shot('interrupt-form')
  await page.getByTestId('interrupt-approve').click()
  await page.getByText('{"city":"Faro","nights":2,"class":"fine"}', { exact: false }).first().waitFor()
})

test('a question that offers answers has a button for each, and its details are read as text', async () => {
  const tab = await studio.open()
  const { page } = tab
  await ask(tab, 'booking', 'Choose')
  const question = page.getByTestId('interrupt')
  const choices = question.getByTestId('interrupt-choice')
  await expect.poll(() => choices.allTextContents()).toEqual(['plain', 'fine'])
  // Each once: neither the sentence nor the answers are told again as JSON, and a line break is one.
  expect(await question.locator('dd').allInnerTexts()).toEqual(['A room\nwith a view'])
  expect(await question.getByText('Which one?').count()).toBe(1)
  await tab.shot('interrupt-choices')
  await press(page, choices.nth(1))
  await page.getByText('Told: "fine"').first().waitFor()
  expect(await choices.nth(0).isDisabled()).toBe(true)
})

test('what a model writes does nothing to the page, and fetches nothing', async () => {
  const tab = await studio.open()
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await ask(tab, 'hostile', 'Hello')
  await page.getByTestId('message-complete').waitFor()
  await page.getByText('press me').click()
  await page.getByText('or me').click()
  const text = page.locator('.markdown').last()
  expect(await text.locator('script, iframe, img, svg, style, a').count()).toBe(0)
  expect(await page.evaluate(() => 'attacked' in window)).toBe(false)
  expect(asked.filter((url) => !url.startsWith(studio.address))).toEqual([])
  expect(page.context().pages()).toHaveLength(1)
  await tab.shot('attack')
})

test('a second tab attaches to a run that is under way, and both end alike', async () => {
  const first = await studio.open()
  await ask(first, 'counter', 'Count to 200')
  await first.page.getByText('9 10', { exact: false }).first().waitFor()
  const second = await studio.open(new URL(first.page.url()).pathname)
  await expect.poll(() => second.page.getByTestId('status').textContent()).toBe('running')
  await second.page.getByText('19 20', { exact: false }).first().waitFor()
  await second.shot('attached')
  gate.open()
  for (const { page } of [first, second]) await page.getByTestId('message-complete').waitFor()
  const said = ({ page }: typeof first) => page.locator('.markdown').last().textContent()
  expect(await said(second)).toBe(await said(first))
})

test('a run is done again with the same words', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Hello')
  await tab.page.getByTestId('retry').click()
  await tab.page.getByTestId('message-complete').nth(1).waitFor()
  expect(await tab.page.locator('.bubble').allTextContents()).toEqual(['Hello', 'Hello'])
})

test('while it runs, every panel shows what there is so far', async () => {
  const tab = await studio.open('/', { viewport: { width: 1440, height: 900 } })
  const { page } = tab
  await ask(tab, 'recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  for (const [panel, proof] of [
    ['wire', 'wire-frame'],
    ['flow', 'flow-node'],
    ['usage', 'usage-row'],
    ['state', 'panel-state'],
    ['problems', 'panel-problems'],
    ['proof', 'panel-proof'],
  ] as const) {
    await page.locator(`#tab-${panel}`).click()
    await page.getByTestId(proof).first().waitFor()
    await tab.shot(`live-${panel}`)
  }
  expect(await page.getByTestId('timeline').locator('.bar').count()).toBeGreaterThan(0)
  await page.getByTestId('message-complete').waitFor()
  await page.getByTestId('proof-confidence').waitFor()
})
