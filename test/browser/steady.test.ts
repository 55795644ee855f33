import type { RunEvent } from '@millrace/core'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { drawn, pointAt, press } from './pointer.ts'
import { ask, studioTests } from './studio-page.ts'

const gate = { open: (): void => undefined }

/** Speaks, and goes on once the test wants it to. */
const patient = scriptedAgent('patient', async function* (): AsyncGenerator<RunEvent> {
  yield { kind: 'node.started', node: 'patient@1', agent: 'patient' }
  yield* speech('patient', 'First words. '.repeat(60), { message: 'first' })
  await new Promise<void>((resolve) => {
    gate.open = resolve
  })
  yield* speech('patient', 'Many more words follow. '.repeat(60), { message: 'second' })
  yield { kind: 'node.finished', node: 'patient@1', status: 'ok' }
})

const studio = studioTests(0, [patient])
const wide = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 } }
let briefing: string

beforeAll(async () => {
  briefing = await studio.run('recovery', 'Prepare a recovery briefing for the Cedar Creek fire')
})

const lastEvent = (page: Page): Promise<number> => page.getByTestId('scrubber').getAttribute('max').then(Number)

/** Remembers all controls in the page, each with the name that a person knows it by. */
function remember(): void {
  const nameOf = (element: Element): string =>
    [element.getAttribute('data-testid'), element.getAttribute('aria-label'), element.textContent].join(' ')
  const controls = [...document.querySelectorAll('button, a[href], input, select, summary')]
  Object.assign(window, { nameOf, controls: controls.map((element) => ({ element, name: nameOf(element) })) })
}

/** Controls that are gone although one of the same name has come. */
function replaced(): readonly string[] {
  const { controls, nameOf } = window as unknown as {
    controls: readonly { readonly element: Element; readonly name: string }[]
    nameOf: (element: Element) => string
  }
  const known = new Set(controls.map(({ element }) => element))
  const come = [...document.querySelectorAll('button, a[href], input, select, summary')]
  const names = new Set(come.filter((element) => !known.has(element)).map(nameOf))
  return controls.filter(({ element, name }) => !element.isConnected && names.has(name)).map(({ name }) => name)
}

test.each(['flow', 'state', 'proof', 'plan', 'wire', 'problems', 'usage', 'step'])(
  'no control of %s is replaced when the cursor moves, which would lose a press',
  async (panel) => {
    const { page } = await studio.open(`/s/${briefing}?panel=${panel}&at=600`, wide)
    await page.locator(`[data-testid="panel-${panel}"] > :not(.panel-loading)`).first().waitFor()
    await page.locator('.flow-waiting').waitFor({ state: 'detached' })
    if (panel === 'flow') await page.getByTestId('flow-key').first().waitFor()
    await page.locator('.upper[aria-busy="false"]').waitFor()
    await page.evaluate(remember)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => page.url()).toContain('at=599')
    await page.locator('.upper[aria-busy="false"]').waitFor()
    if (panel === 'flow') await page.getByTestId('flow-key').first().waitFor()
    expect(await page.evaluate(replaced)).toEqual([])
  },
)

test('a frame that is pressed while others arrive stays under the pointer, and opens', async () => {
  const tab = await studio.open('/', wide)
  const { page } = tab
  await ask(tab, 'patient', 'Speak')
  await press(page, page.locator('#tab-wire'))
  // The start of run and node, 120 words, and the whole message: nothing else comes before the gate opens.
  await expect.poll(() => lastEvent(page)).toBe(123)
  await drawn(page)
  const row = page.locator('[data-testid="wire-frame"]').nth(-4)
  await pointAt(page, row)
  const seq = await row.getAttribute('data-seq')
  await page.mouse.down()
  gate.open()
  await expect.poll(() => page.getByTestId('status').textContent()).toBe('done')
  await expect.poll(() => page.getByTestId('panel-wire').textContent()).toContain('RUN_FINISHED 1')
  await page.mouse.up()
  await page.locator(`[data-testid="wire-frame"][data-seq="${seq}"] .frame-body`).waitFor()
})

test('a key that is held down toggles once', async () => {
  const { page } = await studio.open(`/s/${briefing}`, wide)
  await page.getByTestId('status').waitFor()
  // Playwright marks a second press without a release as a repetition, as a keyboard does.
  await page.keyboard.down('f')
  await page.keyboard.down('f')
  await page.keyboard.up('f')
  await expect.poll(() => page.getByTestId('maximise').getAttribute('aria-pressed')).toBe('true')
})

test('on a phone the open tab is in sight, names of tools are whole, and the last chip can be read', async () => {
  const { page } = await studio.open(`/s/${briefing}?panel=step`, phone)
  const inside = (selector: string): Promise<boolean> =>
    page.locator(selector).evaluate((element) => {
      const { left, right } = element.getBoundingClientRect()
      const list = element.parentElement?.getBoundingClientRect() ?? { left: 0, right: 0 }
      // The last 20 px of the list fade away.
      return left >= list.left && right <= list.right - 20
    })
  await expect.poll(() => inside('#tab-step')).toBe(true)
  await press(page, page.locator('#tab-wire'))
  const chips = page.getByTestId('wire-chip')
  await chips.first().waitFor()
  await chips.last().evaluate((chip) => {
    const list = chip.parentElement as HTMLElement
    list.scrollLeft = list.scrollWidth
    chip.id = 'last-chip'
  })
  await expect.poll(() => inside('#last-chip')).toBe(true)
  await page.mouse.click(384, 20)
  await page.locator('.scrim').waitFor({ state: 'detached' })
  const names = page.locator('.tool-name')
  await names.first().waitFor()
  const cut = await names.evaluateAll((all) =>
    all.filter((name) => name.scrollWidth > name.clientWidth).map(({ textContent }) => textContent),
  )
  expect(cut).toEqual([])
})

test('the results of a search are words, without the signs of markdown', async () => {
  const { page } = await studio.open(`/s/${briefing}`, wide)
  await page.keyboard.press('Control+k')
  await page.getByTestId('palette-input').fill('severity')
  await page.getByTestId('palette-option').first().waitFor()
  await expect.poll(() => page.getByTestId('palette').locator('mark').count()).toBeGreaterThan(0)
  const texts = await page.getByTestId('palette-option').allTextContents()
  expect(texts.filter((text) => /\*\*|`/.test(text))).toEqual([])
})

test('costs are whole beside all other figures of an agent', async () => {
  const { page } = await studio.open(`/s/${briefing}?panel=usage`, wide)
  await page.evaluate(() => {
    const prices = { currency: 'USD', models: { offline: { input: 2, output: 2 } } }
    localStorage.setItem('millrace', JSON.stringify({ state: { prices }, version: 0 }))
  })
  await page.reload()
  await expect.poll(() => page.getByTestId('usage-row').first().textContent()).toContain('$')
  const hidden = await page
    .locator('.table-scroll')
    .evaluateAll((tables) => tables.map((table) => table.scrollWidth - table.clientWidth))
  expect(hidden).toEqual([0, 0, 0])
})
