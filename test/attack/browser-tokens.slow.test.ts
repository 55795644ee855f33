import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { launchChromium } from '../browser/chromium.ts'
import { apiAgents } from '../kit/api-samples.ts'
import { type ForeignPages, foreignPages } from '../kit/foreign-page.ts'
import { testServer } from '../kit/server.ts'

/** The page, EventSource and downloads on a server that requires tokens, in a real browser. */
const token = 'a-token-of-ada'
const page = fileURLToPath(new URL('../../packages/cli/page/', import.meta.url))
let browser: Browser
let context: BrowserContext
let server: Awaited<ReturnType<typeof testServer>>
let address: string
let foreign: ForeignPages
beforeAll(async () => {
  const tokens = new Map([[token, 'ada']])
  server = await testServer({ with: apiAgents, fallback: 'echo', page, access: { tokens } })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = (path: string, body: object) =>
    fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }).then((answer) => answer.text())
  await post('/sessions', { id: 'plan', agent: 'planner' })
  await post('/sessions/plan/chat', { message: 'plan it' })
  await post('/sessions/plan/execute', {})
  foreign = await foreignPages()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await foreign.close()
  await server.close(0)
})
beforeEach(async () => {
  context = await browser.newContext()
})
afterEach(() => context.close())

/** Every request that the browser sends, with its headers. */
function watched(tab: Page): { readonly url: string; readonly token: boolean }[] {
  const sent: { url: string; token: boolean }[] = []
  tab.on('request', (request) => {
    const text = JSON.stringify(request.headers())
    sent.push({ url: request.url(), token: text.includes(token) })
  })
  return sent
}

async function signIn(tab: Page, path = '/'): Promise<void> {
  await tab.goto(`${address}${path}`)
  await tab.getByLabel('This server requires an access token').fill(token)
  await tab.getByRole('button', { name: 'Continue' }).click()
  await tab.getByTestId('sign-out').waitFor()
}

describe('SPEC 6.6: a browser with a token', () => {
  test('signs in once, talks to an agent, and keeps the token nowhere', async () => {
    const tab = await context.newPage()
    const sent = watched(tab)
    await tab.goto(address)
    const field = tab.getByLabel('This server requires an access token')
    await field.fill('a-wrong-token')
    await tab.getByRole('button', { name: 'Continue' }).click()
    expect(await tab.getByRole('alert').textContent()).toContain('the bearer token is unknown')
    await field.fill(token)
    await tab.getByRole('button', { name: 'Continue' }).click()
    await tab.getByTestId('chat-input').fill('hello')
    await tab.getByTestId('send-button').click()
    await tab.getByText('You said hello').first().waitFor()

    expect(sent.filter((request) => request.token).map(({ url }) => new URL(url).pathname)).toEqual(['/sign-in'])
    expect(sent.filter(({ url }) => url.includes(token))).toEqual([])
    const kept = await tab.evaluate(() =>
      JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML]),
    )
    expect(kept).not.toContain(token)
    expect(await tab.evaluate(() => document.cookie)).toBe('')
  })

  test('an EventSource starts, follows and re-joins, and a link downloads', async () => {
    const tab = await context.newPage()
    await signIn(tab)
    const heard = await tab.evaluate(
      (url) =>
        new Promise<string>((resolve, reject) => {
          const source = new EventSource(url)
          source.addEventListener('chunk', (event) => {
            source.close()
            resolve(event.data)
          })
          source.addEventListener('error', () => reject(new Error('the stream was refused')))
        }),
      `${address}/api/projects/echo/stream?input=hi&session_id=of-a-source`,
    )
    expect(heard).toContain('You')
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${address}/sessions/of-a-source`, { headers })).status).toBe(200)
    const rows = await tab.evaluate(
      (url) =>
        new Promise<string>((resolve, reject) => {
          const source = new EventSource(url)
          source.addEventListener('message', (event) => {
            source.close()
            resolve(event.lastEventId)
          })
          source.addEventListener('error', () => reject(new Error('the stream was refused')))
        }),
      `${address}/sessions/plan/events?after=1`,
    )
    expect(rows).toBe('2')

    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      tab.evaluate((href) => {
        const link = document.createElement('a')
        Object.assign(link, { href, download: '' })
        document.body.append(link)
        link.click()
      }, `${address}/sessions/plan/artifacts/a1/download`),
    ])
    expect(await readFile(await download.path(), 'utf8')).toBe('# Notes')
  })

  test('a link to a session asks for the token and then shows the session; signing out asks again', async () => {
    const tab = await context.newPage()
    await signIn(tab, '/s/plan')
    await tab.getByText('Here is a plan.').first().waitFor()
    expect(new URL(tab.url()).pathname).toBe('/s/plan')
    await tab.getByTestId('sign-out').click()
    await tab.getByLabel('This server requires an access token').waitFor()
    const status = await tab.evaluate(async (url) => (await fetch(url)).status, `${address}/sessions`)
    expect(status).toBe(401)
  })

  test('a page on another port of the same host, which the browser sends the cookie for, does nothing', async () => {
    const tab = await context.newPage()
    await signIn(tab)
    const before = await server.log.list({})
    const reached: string[] = []
    server.app.server.on('request', ({ url, headers }) => {
      if (headers.cookie !== undefined) reached.push(url ?? '')
    })
    await tab.goto(`http://127.0.0.1:${foreign.port}/`)
    await tab.evaluate(async (at) => {
      const url = (way: string): string => `${at}/api/projects/echo/stream?input=${way}&session_id=${way}`
      const settled = (target: EventTarget): Promise<unknown> =>
        new Promise((resolve) => {
          for (const type of ['load', 'error']) target.addEventListener(type, resolve, { once: true })
        })
      const inserted = (tag: string): Promise<unknown> => {
        const element = Object.assign(document.createElement(tag), { src: url(tag) })
        document.body.append(element)
        return settled(element)
      }
      const source = new EventSource(url('source'), { withCredentials: true })
      const frame = Object.assign(document.createElement('iframe'), { name: 'answer' })
      document.body.append(frame)
      const form = Object.assign(document.createElement('form'), {
        action: `${at}/sessions`,
        method: 'post',
        enctype: 'text/plain',
        target: 'answer',
      })
      document.body.append(form)
      const posted = settled(frame)
      form.submit()
      const init = { mode: 'no-cors', credentials: 'include' } as const
      await Promise.all([
        inserted('img'),
        inserted('script'),
        inserted('iframe'),
        settled(source).finally(() => source.close()),
        fetch(url('fetch'), init).catch(() => undefined),
        fetch(`${at}/sessions`, { ...init, method: 'POST', body: '{}' }).catch(() => undefined),
        posted,
      ])
    }, address)
    // The cookie came with them: it was this server that refused.
    expect(reached.length).toBeGreaterThan(3)
    expect(await server.log.list({})).toEqual(before)
  })
})
