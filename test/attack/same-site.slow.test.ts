import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchChromiumWith } from '../browser/chromium.ts'
import { type ForeignPages, foreignPages } from '../kit/foreign-page.ts'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

/**
 * Pages over plain http, on names that are not loopback: there a browser sends no `Sec-Fetch-Site`, and no `Origin` with
 * images, scripts and links. Both names lead to this machine.
 */
const echo = scriptedAgent('echo', () => speech('echo', 'hello'))
let browser: Browser
let server: Awaited<ReturnType<typeof testServer>>
let foreign: ForeignPages
let port = ''
let reached: { url: string; site: unknown; origin: unknown }[] = []

/** A page without anything; `?link=` has a link, and `?form=` a form, which go to that address. */
const page = (url: string): string => {
  const { link = '', form = '', method = 'get' } = Object.fromEntries(new URL(url, 'http://x').searchParams)
  const fields = [...new URL(form || 'http://x').searchParams].map(
    ([name, value]) => `<input name="${name}" value="${value}">`,
  )
  return `<!doctype html><a href="${link.replaceAll('&', '&amp;')}">go</a>
<form method="${method}" action="${form.split('?')[0]}">${fields.join('')}<button>send</button></form>`
}
beforeAll(async () => {
  browser = await launchChromiumWith('--host-resolver-rules=MAP mill.example 127.0.0.1, MAP evil.example 127.0.0.1')
  foreign = await foreignPages(page)
})
afterAll(async () => {
  await browser.close()
  await foreign.close()
})
beforeEach(async () => {
  server = await testServer({ with: [echo], fallback: 'echo', access: { hosts: ['mill.example'] } })
  port = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' })).port
  reached = []
  server.app.server.on('request', ({ url = '', headers }) =>
    reached.push({ url, site: headers['sec-fetch-site'], origin: headers.origin }),
  )
})
afterEach(() => server.close(0))

const evil = (): string => `http://evil.example:${foreign.port}/`
const start = (way: string): string =>
  `http://mill.example:${port}/api/projects/echo/stream?input=${way}&session_id=${way}`
const sessions = async (): Promise<number> => (await server.log.list({})).total

test('what a page of another site loads by itself starts nothing', async () => {
  const tab = await (await browser.newContext()).newPage()
  await tab.goto(evil())
  const ways = await tab.evaluate(async (at) => {
    const url = (way: string): string => at.replaceAll('WAY', way)
    const settled = (way: string, target: EventTarget): Promise<string> =>
      new Promise((resolve) => {
        for (const type of ['load', 'error']) target.addEventListener(type, () => resolve(way), { once: true })
      })
    const inserted = (way: string, tag: string, fields: (address: string) => object): Promise<string> => {
      const element = document.createElement(tag)
      const over = settled(way, element)
      Object.assign(element, fields(url(way)))
      document.body.append(element)
      return over
    }
    const fetched = (way: string, init: RequestInit): Promise<string> =>
      fetch(url(way), init).then(
        () => way,
        () => way,
      )
    const source = new EventSource(url('source'))
    const closed = settled('source', source).finally(() => source.close())
    return Promise.all([
      inserted('img', 'img', (src) => ({ src })),
      inserted('quiet', 'img', (src) => ({ src, referrerPolicy: 'no-referrer' })),
      inserted('script', 'script', (src) => ({ src })),
      inserted('style', 'link', (href) => ({ rel: 'stylesheet', href })),
      inserted('frame', 'iframe', (src) => ({ src })),
      fetched('fetch', {}),
      fetched('opaque', { mode: 'no-cors' }),
      fetched('accepting', { mode: 'no-cors', headers: { accept: 'text/event-stream' } }),
      closed,
    ])
  }, start('WAY'))
  // They came, and without a word about where from: it was this server that refused them.
  for (const way of ways) expect(reached.map(({ url }) => url).join('\n'), way).toContain(`input=${way}&`)
  expect(reached.find(({ url }) => url.includes('input=img&'))).toMatchObject({ site: undefined, origin: undefined })
  expect(await sessions()).toBe(0)
})

test.each(['link', 'form', 'posted form'])('a %s on another site starts nothing', async (way) => {
  const tab = await (await browser.newContext()).newPage()
  const address = start('clicked')
  const place = new URL(evil())
  place.searchParams.set(
    way === 'link' ? 'link' : 'form',
    way === 'posted form' ? `http://mill.example:${port}/` : address,
  )
  if (way === 'posted form') place.searchParams.set('method', 'post')
  await tab.goto(place.href)
  const answer = tab.waitForResponse((response) => response.url().includes('mill.example'))
  await tab.click(way === 'link' ? 'a' : 'button')
  expect((await answer).status()).toBe(403)
  expect(await sessions()).toBe(0)
})

test('a page of the own site, and tools, start runs', async () => {
  const tab = await (await browser.newContext()).newPage()
  await tab.goto(`http://mill.example:${port}/docs`)
  const opened = await tab.evaluate(
    (address) =>
      new Promise((resolve) => {
        const source = new EventSource(address)
        for (const type of ['open', 'error']) source.addEventListener(type, () => resolve(type), { once: true })
      }),
    start('own'),
  )
  expect(opened).toBe('open')
  expect(reached.find(({ url }) => url.includes('input=own&'))).toMatchObject({ site: undefined, origin: undefined })
  expect(await sessions()).toBe(1)
  const tool = await fetch(start('tool').replace('mill.example', '127.0.0.1'))
  expect(tool.status).toBe(200)
  await tool.text()
  expect(await sessions()).toBe(2)
})
