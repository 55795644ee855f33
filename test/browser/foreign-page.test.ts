import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ForeignPages, foreignPages } from '../kit/foreign-page.ts'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { launchChromium } from './chromium.ts'

const echo = scriptedAgent('echo', () => speech('echo', 'hello'))
let browser: Browser
let server: Awaited<ReturnType<typeof testServer>>
let foreign: ForeignPages
let port: string
beforeAll(async () => {
  browser = await launchChromium()
  foreign = await foreignPages()
})
afterAll(async () => {
  await browser.close()
  await foreign.close()
})
beforeEach(async () => {
  server = await testServer({ with: [echo], fallback: 'echo', access: { hosts: ['0.0.0.0', '[::]'] } })
  port = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' })).port
})
afterEach(() => server.close(0))

test.each(['0.0.0.0', '127.0.0.1', 'localhost'])('a page on another port starts nothing at %s', async (host) => {
  const reached: string[] = []
  const listener = (request: { url?: string | undefined }): void => void reached.push(request.url ?? '')
  server.app.server.on('request', listener)
  const page = await (await browser.newContext()).newPage()
  await page.goto(`http://127.0.0.1:${foreign.port}/`)
  const ways = await page.evaluate(async (at) => {
    const url = (way: string): string => `${at}/api/projects/echo/stream?input=${way}&session_id=${way}`
    const settled = (way: string, target: EventTarget): Promise<string> =>
      new Promise((resolve) => {
        for (const type of ['load', 'error']) target.addEventListener(type, () => resolve(way), { once: true })
      })
    const inserted = (way: string, tag: string, field: string): Promise<string> => {
      const element = document.createElement(tag)
      const over = settled(way, element)
      Object.assign(element, { referrerPolicy: 'no-referrer', [field]: url(way) })
      if (tag === 'link') Object.assign(element, { rel: 'stylesheet' })
      document.body.append(element)
      return over
    }
    const source = new EventSource(url('source'))
    const closed = settled('source', source).finally(() => source.close())
    const opaque = fetch(url('fetch'), { mode: 'no-cors' }).then(
      () => 'fetch',
      () => 'fetch',
    )
    return Promise.all([
      inserted('img', 'img', 'src'),
      inserted('script', 'script', 'src'),
      inserted('link', 'link', 'href'),
      inserted('iframe', 'iframe', 'src'),
      closed,
      opaque,
    ])
  }, `http://${host}:${port}`)
  server.app.server.off('request', listener)

  // They came: it was this server that refused them.
  for (const way of ways) expect(reached.join('\n'), way).toContain(`input=${way}&`)
  expect((await server.log.list({})).total).toBe(0)
})
