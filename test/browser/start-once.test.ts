import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { gate } from '../kit/waiting.ts'
import { launchChromium } from './chromium.ts'

const words = 20
/** Says the next message each time it is let on. */
let gates: readonly ReturnType<typeof gate>[] = []
const halting = scriptedAgent('halting', async function* () {
  for (const [i, { opened }] of gates.entries()) {
    await opened
    yield* speech('halting', `word-${i}.`, { message: `m${i}` })
  }
})

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

let server: Awaited<ReturnType<typeof testServer>>
let proxy: Server
let outside: string
/** Streams that are open, and what each of them has been sent. */
const open = new Set<ServerResponse>()
/** Statuses of the stream, in the order they were answered. */
let answers: number[] = []
/** How much of the next stream gets through before the connection is cut; all of it unless said. */
let limit: RegExp | undefined

/** A network between the two that can break: it also shortens the wait before a browser comes back. */
beforeEach(async () => {
  gates = Array.from({ length: words }, gate)
  answers = []
  limit = undefined
  server = await testServer({ with: [halting], fallback: 'halting' })
  const { port } = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' }))
  proxy = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const onward = httpRequest({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
      const isStream = path?.includes('/stream') === true
      if (isStream) answers.push(answer.statusCode ?? 0)
      if (!isStream || answer.statusCode !== 200) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
        return
      }
      const until = limit
      limit = undefined
      outgoing.writeHead(200, answer.headers)
      open.add(outgoing)
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
        const end = until?.exec(text)
        outgoing.write((end == null ? piece : end[0]).replace(/retry: \d+/, 'retry: 30'))
        if (end == null) return
        // Not broken off: Chromium throws away what it has not read yet when a connection breaks. Of 300 that were broken
        // right after the id, 10 came back without it, and of 300 that ended, none. A URL with `run` needs no id.
        outgoing.end()
        open.delete(outgoing)
        onward.destroy()
      })
      answer.on('end', () => outgoing.end())
      answer.on('error', () => {
        if (!outgoing.writableEnded) outgoing.destroy()
      })
    })
    outgoing.on('close', () => {
      open.delete(outgoing)
      onward.destroy()
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  outside = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
})
afterEach(async () => {
  proxy.close()
  proxy.closeAllConnections()
  await server.close(0)
})

/** Opens a plain EventSource in the page, and never closes it. */
async function listen(page: Page, path: string): Promise<void> {
  await page.goto(`${outside}/docs`)
  await page.evaluate((url) => {
    const source = new EventSource(url)
    const got: [string, string, string][] = []
    for (const type of ['message', 'session', 'trace', 'chunk', 'log', 'end'])
      source.addEventListener(type, (event) => got.push([type, event.lastEventId, event.data]))
    Object.assign(window, { seen: { source, got } })
  }, path)
}
interface Seen {
  readonly got: readonly (readonly [type: string, id: string, data: string])[]
  readonly closed: boolean
}
const seen = (page: Page): Promise<Seen> =>
  page.evaluate(() => {
    const { source, got } = Reflect.get(window, 'seen') as { source: EventSource; got: Seen['got'] }
    return { got, closed: source.readyState === EventSource.CLOSED }
  })
const until = async (page: Page, is: (now: Seen) => boolean): Promise<Seen> => {
  for (;;) {
    const now = await seen(page)
    if (is(now)) return now
    await page.waitForTimeout(20)
  }
}
const reconnected = async (page: Page, times: number): Promise<void> => {
  while (answers.length < times || open.size === 0) await page.waitForTimeout(10)
}

test.each([
  ['a session of its own', ''],
  ['a session that the URL names', '&session_id=mine'],
])('an EventSource that is cut 20 times and never closed starts one run, in %s', async (_name, query) => {
  const page = await (await browser.newContext()).newPage()
  // The first cut comes before any event: only the id alone is through.
  limit = /^retry: \d+\n\nid: .*\n\n/
  await listen(page, `/api/projects/halting/stream?input=hi${query}`)
  await reconnected(page, 2)
  for (const [i, { open: letOn }] of gates.entries()) {
    letOn()
    if (i === words - 1) break
    await until(page, ({ got }) => got.some(([, , data]) => data.includes(`word-${i}.`)))
    for (const stream of open) stream.destroy()
    open.clear()
    await reconnected(page, i + 3)
  }
  const { got } = await until(page, ({ closed }) => closed)

  expect(answers.filter((status) => status === 200).length).toBeGreaterThan(20)
  expect(answers.at(-1)).toBe(204)
  const { sessions } = await server.log.list({})
  expect(sessions.map(({ runs, status }) => ({ runs, status }))).toEqual([{ runs: 1, status: 'done' }])
  // And it has what one that was never cut has, with the same ids.
  const [{ id = '', lastRun = '' } = {}] = sessions
  await listen(page, `/api/projects/halting/stream?input=hi&session_id=${id}&after=${lastRun}:0`)
  const { got: whole } = await until(page, ({ closed }) => closed)
  expect(got).toEqual(whole)
  expect(whole.filter(([type]) => type === 'end')).toHaveLength(1)
  expect((await server.log.list({})).sessions.map(({ runs }) => runs)).toEqual([1])
})
