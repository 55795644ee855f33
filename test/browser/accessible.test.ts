import { expect, test } from 'vitest'
import { violations } from './axe.ts'
import { press } from './pointer.ts'
import { ask, studioTests } from './studio-page.ts'

const studio = studioTests(0)

test.each(['light', 'dark'] as const)('the first screen and a conversation are accessible, %s', async (colorScheme) => {
  const tab = await studio.open('/', { colorScheme, bypassCSP: true, reducedMotion: 'reduce' })
  await tab.page.getByTestId('agent-recovery').waitFor()
  expect(await violations(tab)).toEqual([])
  await ask(tab, 'recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  await tab.page.getByTestId('message-complete').waitFor()
  await tab.shot(`conversation-${colorScheme}`)
  expect(await violations(tab)).toEqual([])
})

test.each(['light', 'dark'] as const)(
  'every panel, a moment of the past, a question and the plan, %s',
  async (colorScheme) => {
    const look = {
      colorScheme,
      bypassCSP: true,
      reducedMotion: 'reduce',
      viewport: { width: 1440, height: 900 },
    } as const
    const session = await studio.run('recovery', 'Give me a recovery briefing for Cedar Creek Fire')
    const tab = await studio.open(`/s/${session}?at=60`, look)
    for (const [panel, proof] of [
      ['flow', 'flow-node'],
      ['wire', 'wire-frame'],
      ['usage', 'usage-row'],
      ['problems', 'panel-problems'],
      ['proof', 'panel-proof'],
    ] as const) {
      await tab.page.locator(`#tab-${panel}`).click()
      await tab.page.getByTestId(proof).first().waitFor()
      expect(await violations(tab)).toEqual([])
    }
    await tab.page.getByTestId('back-to-latest').click()
    await tab.page.getByTestId('proof-confidence').waitFor()
    expect(await violations(tab)).toEqual([])
    // An opened card has more words than room: the keyboard scrolls them, too.
    await press(tab.page, tab.page.getByTestId('status-function-call').locator('summary').first())
    await tab.page.locator('.tool-body pre[tabindex="0"]').first().waitFor()
    expect(await violations(tab)).toEqual([])
    const plan = await studio.run('planner', 'Plan a competitor analysis of the CRM market')
    await tab.page.goto(`${studio.address}/s/${plan}?panel=plan`)
    await tab.page.getByTestId('plan-task').first().waitFor()
    expect(await violations(tab)).toEqual([])
    const question = await studio.run('assistant', 'Delete all proverbs')
    await tab.page.goto(`${studio.address}/s/${question}?panel=state`)
    await tab.page.getByTestId('interrupt-approve').waitFor()
    expect(await violations(tab)).toEqual([])
  },
)

test.each(['light', 'dark'] as const)(
  'the editor of a change and its comparison, 390 px and 1440 px, %s',
  async (colorScheme) => {
    const chat = await studio.run('assistant', 'What is the weather in Lisbon?')
    const look = {
      colorScheme,
      bypassCSP: true,
      reducedMotion: 'reduce',
      viewport: { width: 390, height: 844 },
    } as const
    const tab = await studio.open(`/s/${chat}`, look)
    const { page } = tab
    const isInside = (): Promise<boolean> => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
    await press(page, page.getByTestId('status-function-call').locator('summary').first())
    await press(page, page.getByTestId('edit-result').first())
    const field = page.getByTestId('change-sheet').locator('textarea')
    await expect.poll(() => page.getByTestId('change-plan').textContent()).toContain('reused')
    await field.fill(JSON.stringify({ ...JSON.parse(await field.inputValue()), city: 'Atlantis' }))
    expect(await violations(tab)).toEqual([])
    expect(await isInside()).toBe(true)
    await tab.shot(`change-390-${colorScheme}`)
    await press(page, page.getByTestId('change-run'))
    await expect.poll(() => page.locator('.figures tr').first().textContent()).toBe('Outcomedonedone')
    expect(await violations(tab)).toEqual([])
    expect(await isInside()).toBe(true)
    // No name of a figure reaches into its value.
    const overlaps = await page.locator('.figures tr').evaluateAll((rows) =>
      rows.flatMap((row) => {
        const [name, value] = row.children
        const text = document.createRange()
        text.selectNodeContents(name ?? row)
        const end = text.getBoundingClientRect().right
        return end > (value?.getBoundingClientRect().left ?? 0) ? [row.textContent] : []
      }),
    )
    expect(overlaps).toEqual([])
    await tab.shot(`compare-390-${colorScheme}`)
    await page.setViewportSize({ width: 1440, height: 900 })
    expect(await violations(tab)).toEqual([])
  },
)
