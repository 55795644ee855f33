import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentTransition, DerivedMessage } from '@millrace/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../chromium.ts'
import { buildPage, reactVersions } from './built-page.ts'
import { openScene, type SceneTab } from './tab.ts'

/** For a busy machine; what is waited for takes milliseconds. */
const tokens = Array.from({ length: 300 }, (_, i) => `tok${i} `)
const content = (text: string): string =>
  `event: content\ndata: ${JSON.stringify({ type: 'content', content: text })}\n\n`
const done = 'event: done\ndata: {"type":"done"}\n\n'

const adkEvent = (id: string, author: string, parts: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id, author, invocationId: 'i', timestamp: 1.76e12, content: { parts }, ...more })}\n\n`

/** A foreign server: a plan/execute chat, an ADK run, and a stream that stays silent until the test makes it send. */
function foreignServer(folder: string) {
  const requests: { method: string; url: string; tick: string | undefined }[] = []
  const quiet = new Set<ServerResponse>()
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { method = '', url = '/' } = request
    const path = url.split('?', 1)[0] ?? url
    if (path === '/' || path.startsWith('/assets/')) {
      const type = path === '/' ? 'text/html' : 'text/javascript'
      response
        .writeHead(200, { 'content-type': type })
        .end(readFileSync(folder + (path === '/' ? '/index.html' : path)))
      return
    }
    requests.push({ method, url, tick: request.headers['x-tick'] as string | undefined })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (path === '/quiet') {
      quiet.add(response)
      response.flushHeaders()
      response.on('close', () => quiet.delete(response))
      return
    }
    request.resume().on('end', () => void (path === '/run_sse' ? runSse(response) : chat(response)))
  }
  return { requests, quiet, server: createServer(answer) }
}

/** Tokens in bursts; the last ones and the end in one write, as servers do. */
async function chat(response: ServerResponse): Promise<void> {
  for (let i = 0; i < tokens.length - 20; i += 20) {
    response.write(
      tokens
        .slice(i, i + 20)
        .map(content)
        .join(''),
    )
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  response.end(tokens.slice(-20).map(content).join('') + done)
}

async function runSse(response: ServerResponse): Promise<void> {
  response.write(adkEvent('u', 'user', [{ text: 'Hi' }]))
  response.write(adkEvent('t', 'planner', [], { actions: { transferToAgent: 'writer' } }))
  response.write(adkEvent('think', 'writer', [{ text: 'Hm.', thought: true }], { partial: true }))
  for (const [i, text] of tokens.entries()) {
    response.write(adkEvent(`p${i}`, 'writer', [{ text }], { partial: true }))
    if (i % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  response.end(adkEvent('whole', 'writer', [{ text: 'Hm.', thought: true }, { text: tokens.join('') }]))
}

describe.each(reactVersions)('hooks in a browser, React %d', (version) => {
  let browser: Browser
  let server: Server
  let address: string
  let foreign: ReturnType<typeof foreignServer>
  beforeAll(async () => {
    foreign = foreignServer(await buildPage(version, 'development'))
    server = foreign.server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
  })
  const open = (scene: string): Promise<SceneTab> => openScene(browser, `${address}/?scene=${scene}&strict`)

  test.each(['broken', 'correct'])(
    'the plan/execute document\'s "%s" component: no loop, and the final content is whole',
    async (name) => {
      foreign.requests.length = 0
      const tab = await open(name)
      await tab.page.getByRole('button').click()
      await tab.until('status', 'closed')
      await tab.page.waitForFunction(() => (window.report.values.messages as unknown[]).length > 0)
      expect(await tab.value('messages')).toEqual([{ content: tokens.join('') }])
      expect(await tab.value('streaming')).toBe(tokens.join(''))
      expect(await tab.value('connectIsStable')).toBe(true)
      expect(foreign.requests.map(({ method, url }) => [method, url])).toEqual([['POST', '/sessions/s/chat']])
      // A loop renders without end; a render per token is 300, and StrictMode doubles each.
      expect((await tab.renders()).page).toBeLessThan(200)
      expect(tab.noise).toEqual([])
    },
  )

  test('rendering reconnects nothing, the latest callback is the one that is called, leaving closes', async () => {
    foreign.requests.length = 0
    const tab = await open('reconnect')
    await tab.until('status', 'open')
    await expect.poll(() => foreign.quiet.size).toBe(1)
    // StrictMode runs the effect twice; the second stream replaces the first, which may not even have been asked for.
    const asked = foreign.requests.length
    expect(asked).toBeLessThanOrEqual(2)
    for (let i = 0; i < 50; i++) await tab.act('render')
    await tab.until('tick', 50)
    expect(foreign.requests).toHaveLength(asked)
    for (const response of foreign.quiet) response.write(adkEvent('e', 'writer', [{ text: 'now' }]))
    await tab.page.waitForFunction(() => (window.report.values.closures as unknown[]).length === 1)
    expect(await tab.value('closures')).toEqual([50])
    // A component below connects in its effect: with the options of this render, not of the one before.
    await tab.act('reconnect')
    await expect.poll(() => foreign.requests.length).toBe(asked + 1)
    expect(foreign.requests.at(-1)?.tick).toBe('51')
    await tab.act('leave')
    await expect.poll(() => foreign.quiet.size).toBe(0)
    expect(tab.noise).toEqual([])
  })

  test('a stream that its owner closes is left; a server that dies is reported as a cut', async () => {
    const closed = await open('reconnect')
    await closed.until('status', 'open')
    await closed.act('close')
    await closed.until('status', 'closed')
    expect(await closed.value('error')).toBeUndefined()
    await expect.poll(() => foreign.quiet.size).toBe(0)
    const cut = await open('reconnect')
    await cut.until('status', 'open')
    await expect.poll(() => foreign.quiet.size).toBe(1)
    for (const response of foreign.quiet) response.destroy()
    await cut.until('status', 'closed')
    expect(await cut.value('error')).toContain('broke off')
  })

  test('the chat store: derived messages, thoughts, transitions, status; settled messages render once', async () => {
    const tab = await open('store')
    await tab.page.getByRole('button').click()
    await tab.until('status', 'closed')
    expect(await tab.value('lastEvent')).toBe('whole')
    const messages = await tab.value<DerivedMessage[]>('messages')
    expect(messages.map(({ metadata: { author }, content: said }) => [author, said])).toEqual([
      ['user', 'Hi'],
      ['writer', tokens.join('')],
    ])
    expect(await tab.value('thoughts')).toEqual({ think: 'Hm.' })
    expect(await tab.value<AgentTransition[]>('transitions')).toMatchObject([
      { fromAgent: 'planner', toAgent: 'writer' },
    ])
    expect(await tab.value('agents')).toEqual({ planner: 'idle', writer: 'idle' })
    const renders = await tab.renders()
    expect(renders.msg_u).toBe(2) // once, twice in StrictMode
    expect(renders.msg_think).toBeLessThan(200)
    // Neither thoughts nor transitions nor status change with a token.
    expect(renders.aside).toBeLessThanOrEqual(14)
    expect(tab.noise).toEqual([])
  })
})
