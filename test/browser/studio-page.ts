import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { discoverAgents, type Millrace } from '@millrace/server'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { testServer } from '../server.ts'
import { launchChromium } from './chromium.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const shots = `${root}test-results/`

/** The built page over a real server with the example agents, and a real browser in front of it. */
export interface Studio {
  readonly address: string
  readonly app: Millrace['app']
  /** A tab of its own, with its own settings. Whatever it prints to the console as an error or warning is in `noise`. */
  open(path?: string, options?: BrowserContextOptions): Promise<Tab>
  close(): Promise<void>
}

export interface Tab {
  readonly page: Page
  readonly noise: readonly string[]
  /** Kept as an artifact of the test run. */
  shot(name: string): Promise<void>
}

export async function openStudio(tokensPerSecond: number): Promise<Studio> {
  mkdirSync(shots, { recursive: true })
  const agents = discoverAgents(`${root}agents`, { models: { tokensPerSecond } })
  // Importing ADK takes seconds, and is not what a test of the page is about.
  await agents.warm()
  const { app, close } = await testServer({
    page: `${root}packages/cli/page/`,
    agents,
    fallback: 'assistant',
    newId: randomUUID,
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const browser: Browser = await launchChromium()
  return {
    address,
    app,
    async open(path = '/', options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      const page = await context.newPage()
      const noise: string[] = []
      page.on('pageerror', (error) => noise.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') noise.push(message.text())
      })
      await page.goto(`${address}${path}`)
      await page.locator('.shell').waitFor()
      return {
        page,
        noise,
        shot: async (name) => void (await page.screenshot({ path: `${shots}${name}.png` })),
      }
    },
    async close() {
      await browser.close()
      await close(0)
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
