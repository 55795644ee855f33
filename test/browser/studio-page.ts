import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { EventLog } from '@millrace/core'
import { wireText } from '@millrace/core/testing'
import { type Agent, discoverAgents, type Millrace } from '@millrace/server'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { full } from '../kit/full.ts'
import { testServer } from '../kit/server.ts'
import { loadVectors } from '../kit/vectors.ts'
import { launchChromium } from './chromium.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const shots = `${root}test-results/`

/** The built page over a real server with the example agents, and a real browser in front of it. */
export interface Studio {
  readonly address: string
  readonly app: Millrace['app']
  /** A tab of its own, with its own settings. What it prints to the console as an error or warning fails the test. */
  open(path?: string, options?: BrowserContextOptions): Promise<Tab>
  /** The same without a page in it yet. */
  empty(options?: BrowserContextOptions): Promise<Tab>
  /** A run through the same door as the page's own, waited for until it is over; resolves with the session. */
  run(agent: string, text: string): Promise<string>
  /** A recorded stream of another system, as a session of its own. */
  bring(dialect: 'adk' | 'ag-ui' | 'studio' | 'plan', vector: string): Promise<string>
}

export interface Tab {
  readonly page: Page
  readonly noise: string[]
  /** A picture of the page in `test-results`, for people to look at; made in the whole form only. */
  shot(name: string): Promise<void>
}

/** One server and one browser for all tests of a file. Every test ends with silent consoles, or fails. */
export function studioTests(
  tokensPerSecond: number,
  more: readonly Agent[] = [],
  makeLog?: () => Promise<EventLog>,
): Studio {
  const tabs: Tab[] = []
  let server: Millrace
  let browser: Browser
  let address = ''
  beforeAll(async () => {
    mkdirSync(shots, { recursive: true })
    const found = discoverAgents(exampleAgents, { models: { tokensPerSecond } })
    // Importing ADK takes seconds, and is not what a test of the page is about.
    await found.warm()
    const agents = { agents: new Map([...found.agents, ...more.map((agent) => [agent.name, agent] as const)]) }
    const page = `${root}packages/cli/page/`
    const log = await makeLog?.()
    server = await testServer({ page, agents, fallback: 'assistant', newId: randomUUID, ...(log && { log }) })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    browser = await launchChromium()
  })
  afterEach(async () => {
    const noise = tabs.flatMap((tab) => tab.noise)
    for (const { page } of tabs.splice(0)) await page.context().close()
    expect(noise).toEqual([])
  })
  afterAll(async () => {
    await browser.close()
    await server.close(0)
  })
  return {
    get address() {
      return address
    },
    get app() {
      return server.app
    },
    async open(path = '/', options = {}) {
      const tab = await this.empty(options)
      await tab.page.goto(`${address}${path}`)
      await tab.page.locator('.shell').waitFor()
      return tab
    },
    async empty(options = {}) {
      const tab = await openTab(browser, options)
      tabs.push(tab)
      return tab
    },
    run: (agent, text) => run(server.app, agent, text),
    bring: (dialect, vector) => bring(server.app, dialect, vector),
  }
}

async function openTab(browser: Browser, options: BrowserContextOptions): Promise<Tab> {
  // Without a graphics card the processor draws every frame of an animation. The whole form has them.
  const reducedMotion = full ? 'no-preference' : 'reduce'
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion, ...options })
  const page = await context.newPage()
  const noise: string[] = []
  page.on('pageerror', (error) => noise.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') noise.push(message.text())
  })
  return {
    page,
    noise,
    shot: async (name) => {
      if (full) await page.screenshot({ path: `${shots}${name}.png` })
    },
  }
}

/** From the first screen: chooses the agent, says something, and is in its session. */
export async function ask({ page }: Tab, agent: string, text: string): Promise<void> {
  await page.getByTestId('agent-picker').selectOption(agent)
  await page.getByTestId('chat-input').fill(text)
  await page.getByTestId('send-button').click()
  await page.waitForURL('**/s/**')
}

async function run(app: Millrace['app'], agent: string, text: string): Promise<string> {
  const id = randomUUID()
  await app.inject({ method: 'POST', url: '/sessions', payload: { id, agent, title: text } })
  const content = { role: 'user', parts: [{ text }] }
  const input = { messages: [{ id: `${id}-m`, role: 'user', content }] }
  await app.inject({ method: 'POST', url: `/sessions/${id}/runs`, payload: { agent, input } })
  const standing = async (): Promise<string> => (await app.inject(`/sessions/${id}`)).json().run
  await vi.waitUntil(async () => !['idle', 'running'].includes(await standing()), { timeout: 90_000, interval: 100 })
  return id
}

async function bring(
  app: Millrace['app'],
  dialect: 'adk' | 'ag-ui' | 'studio' | 'plan',
  name: string,
): Promise<string> {
  const vector = loadVectors(dialect).find((each) => each.name === name)
  const answer = await app.inject({
    method: 'POST',
    url: `/sessions/import?dialect=${dialect}`,
    headers: { 'content-type': 'text/event-stream' },
    payload: wireText(vector?.wire ?? []),
  })
  return answer.json().id
}
