import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { ask, studioTests, type Tab } from './studio-page.ts'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const studio = studioTests(0)

/** What axe finds against WCAG 2.2 A and AA. */
async function violations({ page }: Tab): Promise<readonly string[]> {
  await page.addScriptTag({ path: axe })
  return page.evaluate(async () => {
    const { axe: tool } = globalThis as unknown as { axe: { run(context: Document, options: object): Promise<Found> } }
    interface Found {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
    }
    const found = await tool.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] })
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
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
