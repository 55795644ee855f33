import type { Browser, Page } from 'playwright-core'
import './scene.ts'

/** A scene in a tab of its own, and what it reports. */
export interface SceneTab {
  readonly page: Page
  /** What the console said of errors and warnings. */
  readonly noise: readonly string[]
  value<T>(name: string): Promise<T>
  renders(): Promise<Record<string, number>>
  act<T>(name: string, ...args: unknown[]): Promise<T>
  /** Until a reported value is this one. */
  until(name: string, value: string | number | boolean): Promise<void>
}

export async function openScene(browser: Browser, url: string): Promise<SceneTab> {
  // The server's policy forbids eval, by which the test's own questions reach the page.
  const context = await browser.newContext({ bypassCSP: true })
  const page = await context.newPage()
  const noise: string[] = []
  page.on('pageerror', (error) => noise.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') noise.push(message.text())
  })
  await page.goto(url)
  return {
    page,
    noise,
    value: <T>(name: string) => page.evaluate((key) => window.report.values[key] as T, name),
    renders: () => page.evaluate(() => window.report.renders),
    act: <T>(name: string, ...args: unknown[]) =>
      page.evaluate(([key, given]) => (window.report.acts as Acts)[key]?.(...given) as T, [name, args] as const),
    async until(name, value) {
      await page.waitForFunction(([key, wanted]) => window.report.values[key] === wanted, [name, value] as const)
    },
  }
}

type Acts = Record<string, (...args: unknown[]) => unknown>
