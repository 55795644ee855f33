import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe finds against WCAG 2.2 A and AA, and every other finding that it calls moderate or worse. */
export async function violations({ page }: { readonly page: Page }): Promise<readonly string[]> {
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
