import type { RunEvent } from '@millrace/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { full } from '../../kit/full.ts'
import { scriptedAgent, speech } from '../../kit/scripted-agent.ts'
import { testServer } from '../../kit/server.ts'
import { launchChromium } from '../chromium.ts'
import { buildPage, type ReactVersion } from './built-page.ts'
import { openScene } from './tab.ts'

const tokens = full ? 10_000 : 2_000
const earlier = 200
const text = (from: number, to: number): string => Array.from({ length: to - from }, (_, i) => `w${from + i} `).join('')

/** 200 messages at once, or the tokens of one at a given rate. */
const past = scriptedAgent('past', function* () {
  for (let i = 0; i < earlier; i++) yield* speech('past', `Earlier message ${i}.`, { message: `e${i}` })
})
const fast = (perSecond: number) =>
  scriptedAgent('fast', async function* () {
    const begun = performance.now()
    const said = (id: string, words: string, partial: boolean): RunEvent => ({
      kind: 'agent',
      message: 'live',
      event: {
        id,
        author: 'fast',
        invocationId: 'i',
        timestamp: 1.76e12,
        content: { parts: [{ text: words }] },
        ...(partial ? { partial } : {}),
      },
    })
    for (let i = 0; i < tokens; i++) {
      yield said(`t${i}`, `w${i} `, true)
      const ahead = (i / perSecond) * 1000 - (performance.now() - begun)
      if (ahead > 1) await new Promise((resolve) => setTimeout(resolve, ahead))
    }
    yield said('whole', text(0, tokens), false)
  })

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

/** The rate of the issue with React 19; five times that with 18, where only the bounds are the point. */
test.each<[ReactVersion, number]>([
  [19, 500],
  [18, 2500],
])(`React %d: ${tokens} tokens at %d/s beside 200 messages`, async (version, perSecond) => {
  const page = await buildPage(version, 'production')
  const server = await testServer({ page, with: [past, fast(perSecond)], fallback: 'past' } as never)
  try {
    const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    const input = { messages: [{ id: 'u', role: 'user' as const, content: { parts: [{ text: 'Go' }] } }] }
    const start = (agent: string) => server.engine.start({ session: 's', user: 'user', agent, input })
    await server.log.create({ id: 's', user: 'user', agent: 'past' })
    await server.engine.wait('s', (await start('past')).run)
    const tab = await openScene(browser, `${address}/?scene=chat&agent=fast&session=s`)
    await tab.page.waitForFunction((count) => document.querySelectorAll('p').length > count, earlier - 1)
    const before = await tab.renders()
    await tab.page.evaluate(() => {
      const tasks: number[] = []
      window.report.values.tasks = tasks
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
        type: 'longtask',
      })
      window.report.values.frames = 0
      const frame = (): void => {
        window.report.values.frames = (window.report.values.frames as number) + 1
        requestAnimationFrame(frame)
      }
      requestAnimationFrame(frame)
    })
    const begun = performance.now()
    await start('fast')
    await tab.page.waitForFunction(
      () => (window.report.values.latest as { agent: string; status: string }).status === 'done',
      undefined,
      { timeout: 120_000 },
    )
    await tab.until('live', text(0, tokens).length)
    const seconds = (performance.now() - begun) / 1000
    expect(await tab.page.locator('[data-author="fast"]').textContent()).toBe(text(0, tokens))

    const renders = await tab.renders()
    const frames = await tab.value<number>('frames')
    const tasks = (await tab.value<number[]>('tasks')).toSorted((a, b) => a - b)
    // Of all frames: one without a long task counts as 0. The observer reports only tasks of 50 ms and more.
    const blocked = [...Array<number>(Math.max(0, frames - tasks.length)).fill(0), ...tasks]
    const p95 = blocked[Math.ceil(blocked.length * 0.95) - 1] ?? 0
    const live = renders['message live'] ?? 0
    process.stdout.write(
      `React ${version}: ${tokens} tokens in ${seconds.toFixed(1)} s, ${frames} frames, live message rendered ${live} times; ` +
        `${tasks.length} long tasks, p95 of frames ${p95.toFixed(0)} ms, longest ${(tasks.at(-1) ?? 0).toFixed(0)} ms\n`,
    )
    // This browser does report long tasks.
    await tab.page.evaluate(() =>
      setTimeout(() => {
        const end = performance.now() + 120
        while (performance.now() < end);
      }),
    )
    await tab.page.waitForFunction((count) => (window.report.values.tasks as unknown[]).length > count, tasks.length)
    // Nothing but the live message is rendered again: not the 200 before it, nor the list of keys.
    for (let i = 0; i < earlier; i++) expect(renders[`message e${i}`]).toBe(before[`message e${i}`])
    // It grows while it streams. How often depends on the frames that a busy machine draws.
    expect(live).toBeGreaterThan(2)
    // At most once per animation frame, however many tokens came in it; a hidden frame or two may be added at the ends.
    expect(live).toBeLessThanOrEqual(frames + 3)
    expect(renders.list! - before.list!).toBeLessThanOrEqual(frames + 6)
    // New rows: the question, the start, the live message as it opens and as it settles, the end.
    expect(renders.keys! - before.keys!).toBeLessThanOrEqual(6)
    // The bar is 50 ms, printed above. Time on the clock says something on a quiet machine only, and there it is twice that.
    if (full) expect(p95).toBeLessThan(100)
    expect(tab.noise).toEqual([])
  } finally {
    await server.close(0)
  }
})
