import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { ask, studioTests, type Tab } from './studio-page.ts'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const studio = studioTests(0)

/** What axe finds against WCAG 2.2 A and AA, and every other finding that it calls moderate or worse. */
async function violations({ page }: Tab): Promise<readonly string[]> {
  await page.addScriptTag({ path: axe })
  return page.evaluate(async () => {
    const { axe: tool } = globalThis as unknown as { axe: { run(context: Document, options: object): Promise<Found> } }
    interface Found {
      violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
    }
    const found = await tool.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'],
    })
    // A key on an edge of the flow does nothing when it is pressed: it shows its value on hover and focus, and it is
    // drawn at the scale of the graph. The size of targets is about what can be pressed (WCAG 2.5.8).
    // The size of a bar is its time, which is essential; the scrubber and the zoom lead to the same moment.
    const isSized = (id: string, html: string): boolean =>
      id === 'target-size' && (html.includes('"flow-key"') || html.includes('class="bar '))
    const heavy = found.violations.filter(({ impact }) => impact !== 'minor')
    return heavy.flatMap(({ id, nodes }) =>
      nodes.filter(({ html }) => !isSized(id, html)).map((node) => `${id}: ${node.html} ${node.failureSummary}`),
    )
  })
}

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
