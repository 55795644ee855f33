import { readFileSync } from 'node:fs'
import { wireText } from '@millrace/core/testing'
import { expect, test } from 'vitest'
import { loadVectors } from '../kit/vectors.ts'
import { faults } from './matrix/faults.ts'
import { ask, type Studio, studioTests } from './studio-page.ts'

const studio = studioTests(0)

test('keyboard only: a session begun, stepped through, left for the latest, and the sheet of keys', async () => {
  const tab = await studio.open()
  const { page } = tab
  await page.getByTestId('agent-picker').selectOption('assistant')
  await page.getByTestId('chat-input').focus()
  await page.keyboard.type('Hello')
  await page.keyboard.press('Enter')
  await page.getByTestId('message-complete').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('ArrowLeft')
  await page.getByTestId('moment-bar').waitFor()
  expect(await page.getByTestId('message-complete').count()).toBe(0)
  await page.waitForURL(/\?at=\d+/)
  await tab.shot('moment')
  await page.keyboard.press('Escape')
  await page.getByTestId('message-complete').waitFor()
  await page.keyboard.press('?')
  await page.getByTestId('key-sheet').waitFor()
  await tab.shot('keys')
  await page.keyboard.press('Escape')
  await page.getByTestId('key-sheet').waitFor({ state: 'hidden' })
  await page.keyboard.press('/')
  await page.keyboard.type('no such session')
  await page.getByText('No session matches').waitFor()
})

test('a deep link shows that moment', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Hello')
  await tab.page.getByTestId('message-complete').waitFor()
  const other = await studio.open(`${new URL(tab.page.url()).pathname}?at=1`)
  await other.page.getByText('Viewing event 1 of').waitFor()
  expect(await other.page.locator('.bubble').allTextContents()).toEqual(['Hello'])
  expect(await other.page.getByTestId('message-author').count()).toBe(0)
  await other.page.getByTestId('back-to-latest').click()
  await other.page.getByTestId('message-complete').waitFor()
})

test('played from the start, the page ends where the session does', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Hello')
  await tab.page.getByTestId('message-complete').waitFor()
  await tab.page.getByTestId('chat-input').press('Escape')
  await tab.page.keyboard.press('Space')
  await tab.page.getByTestId('moment-bar').waitFor()
  await tab.page.getByTestId('message-complete').waitFor()
  await tab.page.getByTestId('moment-bar').waitFor({ state: 'detached' })
})

test.each(['adk', 'ag-ui', 'studio', 'plan'] as const)(
  'a recorded %s stream dropped on the page is opened',
  async (dialect) => {
    const vector = loadVectors(dialect).find(({ wire }) => wire.length > 8)
    const tab = await studio.open()
    const { page } = tab
    const before = await sessionsOf(studio)
    const data = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], 'recorded.sse'))
      return transfer
    }, wireText(vector!.wire))
    await page.dispatchEvent('body', 'dragover', { dataTransfer: data })
    await page.getByText('Drop the file to open it').waitFor()
    await page.dispatchEvent('body', 'drop', { dataTransfer: data })
    await page.getByRole('heading', { name: 'recorded.sse' }).waitFor()
    await page.locator('.block').first().waitFor()
    expect(await sessionsOf(studio)).toBe(before)
  },
)

test('an ADK session is opened from its file; a file that cannot be read says why', async () => {
  const { page } = await studio.open()
  const event = { id: 'e', author: 'scout', invocationId: 'i', content: { parts: [{ text: 'Cedar Creek.' }] } }
  const file = (name: string, value: unknown) => ({
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(value, null, 2)),
  })
  await page.getByTestId('open-file').setInputFiles(file('bad.json', [1, 2]))
  await page.getByText('event 1: JSON, but no event of a known dialect').waitFor()
  await page
    .getByTestId('open-file')
    .setInputFiles(file('session.json', { id: 's', appName: 'scout', events: [event] }))
  await page.getByRole('heading', { name: 'session.json' }).waitFor()
  await page.getByText('Cedar Creek.').first().waitFor()
})

test('a recording of an agent that is not here can be read, not continued; its specialists are drawn', async () => {
  const asked = (id: string, name: string) => ({ functionCall: { id, name, args: { request: 'How severe?' } } })
  const told = (id: string, name: string) => ({ functionResponse: { id, name, response: { result: 'High.' } } })
  const session = {
    id: 's',
    appName: 'elsewhere',
    events: [
      { author: 'user', content: { role: 'user', parts: [{ text: 'Which fire?' }] } },
      { author: 'chief', content: { parts: [asked('c1', 'burn_analyst'), asked('c2', 'tree_counter')] } },
      { author: 'chief', content: { parts: [told('c1', 'burn_analyst'), told('c2', 'tree_counter')] } },
      { author: 'chief', content: { parts: [{ text: 'Cedar Creek.' }] } },
    ].map((event, i) => ({ id: `e${i}`, invocationId: 'i', timestamp: 1_767_081_391 + i, ...event })),
  }
  const headers = { 'content-type': 'text/plain' }
  const payload = JSON.stringify(session)
  const { id } = (await studio.app.inject({ method: 'POST', url: '/sessions/import', headers, payload })).json()
  const tab = await studio.open(`/s/${id}`)
  const { page } = tab
  await page.getByText('Cedar Creek.').first().waitFor()
  expect(await page.getByTestId('read-only').textContent()).toBe(
    'elsewhere is not an agent of this server, so the session can be read but not continued.',
  )
  for (const gone of ['chat-input', 'send-button', 'retry', 'edit-message'])
    expect(await page.getByTestId(gone).count(), gone).toBe(0)
  await page.getByTestId('timeline').getByText('burn_analyst').first().waitFor()
  await page.getByTestId('timeline').getByText('tree_counter').first().waitFor()
  await page.getByTestId('flow-graph').getByText('burn_analyst').first().waitFor()
  await page.getByRole('button', { name: 'Latest' }).waitFor()
  expect(await page.getByText(/\blive\b/i).count()).toBe(0)
  await tab.shot('recording')
})

test('a file without an end says that the recording was cut off, and not that it failed', async () => {
  const tab = await studio.open()
  const { page } = tab
  const events = [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    { type: 'STEP_STARTED', stepName: 'scout' },
    { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Cedar' },
  ].map((event, i) => ({ ...event, timestamp: 1_767_081_391_000 + i * 100 }))
  const buffer = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  await page.getByTestId('open-file').setInputFiles({ name: 'cut.jsonl', mimeType: 'application/x-ndjson', buffer })
  await page.getByRole('heading', { name: 'cut.jsonl' }).waitFor()
  await expect.poll(() => page.getByTestId('status').textContent()).toBe('cut off')
  await page.getByTestId('message-complete').getByText('the recording ends before the run does').waitFor()
  expect(await page.getByTestId('run-error').count()).toBe(0)
  expect(
    await page
      .locator('main, .timeline-slot')
      .getByText(/\b(?:live|failed|running)\b/i)
      .count(),
  ).toBe(0)
  await tab.shot('recording-cut')
  await page.getByRole('button', { name: 'Save to the server' }).click()
  await page.waitForURL((url) => !url.pathname.includes('file'))
  await expect.poll(() => page.getByTestId('status').textContent()).toBe('cut off')
  // AG-UI names no agent, and the server has one called `assistant`: the recording is not taken for its session.
  expect(await page.getByTestId('read-only').textContent()).toBe(
    'This session names no agent, so the session can be read but not continued.',
  )
})

test('a session that was exported and dropped again is the same, step by step', async () => {
  const session = await studio.run('assistant', 'What is 17 * 23?')
  const tab = await studio.open(`/s/${session}`)
  const { page } = tab
  await page.getByTestId('message-complete').waitFor()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  const file = await (await coming).path()
  const said = await page.locator('.markdown').allTextContents()
  await page.getByTestId('open-file').setInputFiles({
    name: 'again.jsonl',
    mimeType: 'application/x-ndjson',
    buffer: readFileSync(file),
  })
  await page.getByRole('heading', { name: 'again.jsonl' }).waitFor()
  await expect.poll(() => page.locator('.markdown').allTextContents()).toEqual(said)
  await page.getByTestId('scrubber').fill('2')
  await page.getByTestId('moment-bar').waitFor()
  await tab.shot('file-past')
  await page.getByTestId('back-to-latest').click()
  await page.getByRole('button', { name: 'Save to the server' }).click()
  await page.waitForURL((url) => !url.pathname.includes('file'))
  await page.getByTestId('message-complete').waitFor()
})

test('panes are as wide as they were made, also after a reload, and can be put away', async () => {
  const session = await studio.run('assistant', 'Hello')
  const tab = await studio.open(`/s/${session}?panel=state`)
  const { page } = tab
  const width = async (name: string): Promise<number> =>
    (await page.getByLabel(name, { exact: true }).boundingBox())?.width ?? 0
  await page.getByLabel('Inspector', { exact: true }).waitFor()
  const before = await width('Inspector')
  await page.getByRole('separator', { name: 'Width of the inspector' }).focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => width('Inspector')).toBe(before + 48)
  await page.getByRole('separator', { name: 'Width of the session list' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'State' }).press('ArrowRight')
  await page.getByTestId('panel-proof').waitFor()
  await page.locator('body').press('t')
  await page.getByTestId('timeline').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByTestId('panel-proof').waitFor()
  expect(await width('Inspector')).toBe(before + 48)
  expect(await page.getByTestId('timeline').count()).toBe(0)
  await tab.shot('panes')
})

test('a fork goes its own way from the moment it was taken at', async () => {
  const session = await studio.run('assistant', 'Hello')
  const tab = await studio.open(`/s/${session}?at=2`)
  const { page } = tab
  await page.getByRole('button', { name: 'Fork at event 2' }).click()
  await page.waitForURL((url) => url.pathname !== `/s/${session}`)
  await page.getByRole('heading', { name: 'Hello (fork)' }).waitFor()
  // The title comes with the list of sessions, the messages with the stream.
  await page.locator('.bubble').first().waitFor()
  expect(await page.locator('.bubble').allTextContents()).toEqual(['Hello'])
  await tab.shot('fork')
})

test('what the offline model is, is said before anything is asked', async () => {
  const tab = await studio.open()
  await tab.page.getByText('Offline model: replies are scripted', { exact: false }).waitFor()
  await tab.shot('welcome')
})

test('a file that says nothing we know is refused with the reason', async () => {
  const tab = await studio.open()
  await tab.page.getByTestId('open-file').setInputFiles({
    name: 'notes.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('dear diary\n\n'),
  })
  expect(await tab.page.getByTestId('toast').textContent()).toContain('notes.txt cannot be opened')
})

test('sessions are found, renamed and deleted in the list', async () => {
  const tab = await studio.open()
  const { page } = tab
  await ask(tab, 'assistant', 'Hello')
  await page.getByTestId('message-complete').waitFor()
  const row = page.locator('.session[aria-current="page"]')
  await row.hover()
  await row.getByRole('button', { name: /^Actions/ }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await page.getByLabel('Title of the session').fill('A better name')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'A better name' }).waitFor()
  await row.hover()
  await row.getByRole('button', { name: /^Actions/ }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByTestId('agent-picker').waitFor()
  await page.getByRole('link', { name: 'A better name' }).waitFor({ state: 'detached' })
})

test('dark when the system is, light when the person says so', async () => {
  const tab = await studio.open('/', { colorScheme: 'dark' })
  const { page } = tab
  await page.getByTestId('agent-assistant').waitFor()
  const paper = (): Promise<number> =>
    page.evaluate(() => {
      const canvas = document.createElement('canvas').getContext('2d')!
      canvas.fillStyle = getComputedStyle(document.querySelector('.sidebar')!).backgroundColor
      canvas.fillRect(0, 0, 1, 1)
      return canvas.getImageData(0, 0, 1, 1).data[0]!
    })
  expect(await paper()).toBeLessThan(60)
  await tab.shot('welcome-dark')
  await page.getByTestId('theme').click()
  await expect.poll(paper).toBeGreaterThan(200)
  await page.reload()
  await page.getByTestId('agent-assistant').waitFor()
  expect(await paper()).toBeGreaterThan(200)
})

test('on a phone nothing is wider than the screen, and the sessions come as a drawer', async () => {
  const tab = await studio.open('/', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const { page } = tab
  await page.getByTestId('agent-recovery').waitFor()
  await tab.shot('phone-welcome')
  await ask(tab, 'recovery', 'How severe was the Cedar Creek burn?')
  await page.getByTestId('message-complete').waitFor()
  await tab.shot('phone-conversation')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.getByRole('button', { name: /Show the session list/ }).click()
  await page.getByTestId('session-list').waitFor()
  await tab.shot('phone-sessions')
  await page.locator('.scrim').click({ position: { x: 380, y: 400 } })
  for (const [name, pane] of [
    ['Inspector (])', 'flow-graph'],
    ['Timeline (t)', 'timeline'],
  ] as const) {
    await page.getByRole('button', { name }).click()
    await page.getByTestId(pane).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await tab.shot(`phone-${pane}`)
    await page.locator('.scrim').click({ position: { x: 195, y: 20 } })
    await page.getByTestId(pane).waitFor({ state: 'detached' })
  }
})

test('two sessions are compared: what differs is marked', async () => {
  const tab = await studio.open()
  const { page } = tab
  await ask(tab, 'assistant', 'What is 17 * 23?')
  await page.getByTestId('message-complete').waitFor()
  const first = new URL(page.url()).pathname
  await page.goto(studio.address)
  await ask(tab, 'assistant', 'Add a proverb: Still waters run deep')
  await page.getByTestId('message-complete').waitFor()
  const second = decodeURIComponent(new URL(page.url()).pathname.slice('/s/'.length))
  await page.goto(`${studio.address}${first}?compare=${encodeURIComponent(second)}`)
  await page.getByText('add_proverb').first().waitFor()
  await page.getByText('/proverbs').first().waitFor()
  expect(await page.getByTestId('pair-changed').count()).toBeGreaterThan(0)
  await tab.shot('compare')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByTestId('message-complete').waitFor()
})

test('on a tablet the names of two sides are shortened, and the pages that lead nowhere have the way to the list', async () => {
  const question = 'Give me a recovery briefing for Cedar Creek Fire, and then a second one with every detail'
  const [left, right] = [await studio.run('assistant', question), await studio.run('assistant', `${question}, please`)]
  const { page, noise } = await studio.open(`/s/${left}?compare=${right}`, { viewport: { width: 768, height: 1024 } })
  await page.getByTestId('compare').getByText('Final state').waitFor()
  const displays = await page
    .locator('.compare-names .link')
    .evaluateAll((names) => names.map((name) => [name.scrollWidth > name.clientWidth, getComputedStyle(name).display]))
  expect(displays).toEqual([
    [true, 'block'],
    [true, 'block'],
  ])
  expect(await page.evaluate(faults)).toEqual([])
  await page.goto(`${studio.address}/s/nothing-here`)
  await page.getByTestId('unknown-place').waitFor()
  await page.getByRole('button', { name: /Show the session list/ }).click()
  await page.getByTestId('session-list').waitFor()
  // The unknown session is refused with 404, which the browser prints.
  noise.splice(0)
})

async function sessionsOf({ app }: Studio): Promise<number> {
  return (await app.inject('/sessions')).json<{ total: number }>().total
}

test('of many sessions the newest are listed, and a search finds the others', async () => {
  const payload = (i: number) => ({ id: `old-${i}`, agent: 'assistant', title: `Old session ${i}` })
  for (let i = 0; i < 230; i++) await studio.app.inject({ method: 'POST', url: '/sessions', payload: payload(i) })
  const tab = await studio.open('/s/old-3')
  const { page } = tab
  await page.getByRole('heading', { name: 'Old session 3', exact: true }).waitFor()
  await page.getByText('The newest 200 of', { exact: false }).waitFor()
  await page.getByLabel('Search sessions').fill('Old session 12')
  await page.getByRole('link', { name: 'Old session 12', exact: false }).first().waitFor()
  await tab.shot('sessions-found')
})
