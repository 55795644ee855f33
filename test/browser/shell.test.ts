import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadVectors, wireText } from '../vectors.ts'
import { ask, openStudio, type Studio } from './studio-page.ts'

let studio: Studio
beforeAll(async () => {
  studio = await openStudio(0)
})
afterAll(() => studio.close())

test('keyboard only: a session begun, stepped through, left for live, and the sheet of keys', async () => {
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
  expect(tab.noise).toEqual([])
})

test('a deep link shows that moment', async () => {
  const tab = await studio.open()
  await ask(tab, 'assistant', 'Hello')
  await tab.page.getByTestId('message-complete').waitFor()
  const other = await studio.open(`${new URL(tab.page.url()).pathname}?at=1`)
  await other.page.getByText('Viewing event 1 of').waitFor()
  expect(await other.page.locator('.bubble').allTextContents()).toEqual(['Hello'])
  expect(await other.page.getByTestId('message-author').count()).toBe(0)
  await other.page.getByTestId('back-to-live').click()
  await other.page.getByTestId('message-complete').waitFor()
  expect([...tab.noise, ...other.noise]).toEqual([])
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
  expect(tab.noise).toEqual([])
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
    await page.getByText('Let go to open it').waitFor()
    await page.dispatchEvent('body', 'drop', { dataTransfer: data })
    await page.getByRole('heading', { name: 'recorded.sse' }).waitFor()
    await page.locator('.block').first().waitFor()
    expect(await sessionsOf(studio)).toBe(before)
    expect(tab.noise).toEqual([])
  },
)

test('a file that says nothing we know is refused with the reason', async () => {
  const tab = await studio.open()
  await tab.page.getByTestId('open-file').setInputFiles({
    name: 'notes.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('dear diary\n\n'),
  })
  expect(await tab.page.getByTestId('toast').textContent()).toContain('notes.txt cannot be opened')
  expect(tab.noise).toEqual([])
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
  await page.getByRole('menuitem', { name: 'Delete for good?' }).click()
  await page.getByTestId('agent-picker').waitFor()
  await page.getByRole('link', { name: 'A better name' }).waitFor({ state: 'detached' })
  expect(tab.noise).toEqual([])
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
  expect(tab.noise).toEqual([])
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
  expect(tab.noise).toEqual([])
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
  expect(tab.noise).toEqual([])
})

async function sessionsOf({ app }: Studio): Promise<number> {
  return (await app.inject('/sessions')).json<{ total: number }>().total
}
