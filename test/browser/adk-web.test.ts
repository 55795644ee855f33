import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdkWebServer, adkWebServer, command, foreignAdkWeb, originOf } from '../kit/adk-web-server.ts'
import { built } from '../kit/built-server.ts'
import { launchChromium } from './chromium.ts'

// Google's adk-web, as its package ships it, in a real browser on the built server.

const folder = mkdtempSync(join(tmpdir(), 'millrace-adk-web-'))
let browser: Browser
let foreign: Server
let server: AdkWebServer
beforeAll(async () => {
  await built()
  foreign = await foreignAdkWeb(() => server.address)
  browser = await launchChromium()
  server = await adkWebServer(join(folder, 'data'), '--origin', originOf(foreign))
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  foreign.close()
  rmSync(folder, { recursive: true })
})

const homes = { 'its own origin': () => `${server.address}/dev-ui/`, 'another origin': () => `${originOf(foreign)}/` }

async function openPage(home: string, query = '?app=clerk'): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1500, height: 950 } })).newPage()
  page.setDefaultTimeout(60_000)
  // Its fonts are Google's, and a test asks no server but its own.
  await page.route(/fonts\.(googleapis|gstatic)\.com/, (route) => route.abort())
  await page.goto(`${home}${query}`)
  return page
}

async function say(page: Page, text: string, answer: string): Promise<void> {
  await page.getByPlaceholder('Type a message...').fill(text)
  await page.keyboard.press('Enter')
  await page.locator('app-chat-panel').getByText(answer, { exact: true }).first().waitFor()
}

/** What the chat shows: one text for each event. */
const chatOf = async (page: Page): Promise<readonly string[]> => {
  const rows = await page.locator('app-event-row, .message-row-container').allInnerTexts()
  return rows.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '')
}

describe.each(Object.entries(homes))('adk-web on %s', (_, home) => {
  let page: Page
  beforeAll(async () => {
    page = await openPage(home())
    await say(page, 'hello', 'You said: hello.')
    await say(page, 'please look', 'The shelf is full.')
  })

  test('chats; tools, state and the artifact are shown once', async () => {
    for (const chip of ['State: looked_at', 'Artifact: note.txt', 'a note about the shelf']) {
      await page.getByText(chip).first().waitFor()
      expect(await page.getByText(chip).count(), chip).toBe(1)
    }
    expect(await page.locator('.toolbar, app-chat').getByText('hello').count()).toBeGreaterThan(0)
  })

  test('names the session by its first message, also in the list', async () => {
    const listed = await (await fetch(`${server.address}/apps/clerk/users/user/sessions`)).json()
    const id = new URL(page.url()).searchParams.get('session')
    expect(listed).toContainEqual(
      expect.objectContaining({ id, state: { __session_metadata__: { displayName: 'hello' } } }),
    )
  })

  test('shows a trace for each message', async () => {
    await page.getByText('Traces', { exact: true }).click()
    const traces = page.locator('app-trace-tree')
    await traces.nth(1).waitFor()
    const texts = (await traces.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
    expect(texts).toHaveLength(2)
    // The first run loads the agent, so it takes more than the millisecond of the log's clock.
    expect(texts[0]).not.toContain('Total latency: 0us')
    expect(texts[0]).toMatch(/clerk .*call_llm/)
    expect(texts[1]).toMatch(/clerk .*call_llm .*look .*call_llm/)
    await page.getByText('Events', { exact: true }).click()
  })

  test('shows the request and the response of a model call', async () => {
    await page.getByText('The shelf is full.', { exact: true }).first().click()
    const panel = page.locator('app-event-tab')
    await panel.getByRole('button').filter({ hasText: 'input' }).click()
    await panel.getByText('You look at things for people.', { exact: false }).first().waitFor()
    await panel.getByRole('button').filter({ hasText: 'output' }).click()
    await panel.getByText('candidatesTokenCount').first().waitFor()
  })

  test('draws the graph of the agents and tools', async () => {
    const panel = page.locator('app-event-tab')
    await panel.getByRole('button').filter({ hasText: 'account_tree' }).click()
    await panel.locator('svg text').first().waitFor()
    const texts = (await panel.locator('svg text').allTextContents()).join(' ')
    for (const name of ['clerk', 'expert', 'look']) expect(texts).toContain(name)
    const sizes = await panel
      .locator('svg g.node')
      .evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().width))
    expect(Math.min(...sizes)).toBeGreaterThan(50)
  })

  test('shows the same after a reload, and filters by invocation', async () => {
    const before = await chatOf(page)
    expect(before.length).toBeGreaterThanOrEqual(6)
    await page.reload()
    await page.getByText('The shelf is full.', { exact: true }).first().waitFor()
    await expect.poll(() => chatOf(page), { timeout: 60_000 }).toEqual(before)
    await page.getByText('Filter', { exact: true }).click()
    await page.getByRole('menuitem', { name: 'Invocation' }).click()
    await page.getByText('#2 (please look)').click()
    await page.getByText('You said: hello.', { exact: true }).waitFor({ state: 'detached' })
    const shown = (await chatOf(page)).join(' ')
    expect(shown).toContain('please look')
    expect(shown).toContain('The shelf is full.')
  })
})

describe('adk-web', () => {
  test('shows why a run was refused or failed, and keeps what was typed', async () => {
    const page = await openPage(homes['its own origin']())
    await say(page, 'hello', 'You said: hello.')
    await say(page, 'break it', '"the model broke"')
    const id = new URL(page.url()).searchParams.get('session')
    await fetch(`${server.address}/apps/clerk/users/user/sessions/${id}`, { method: 'DELETE' })
    await say(page, 'are you there', 'are you there')
    await page.locator('mat-snack-bar-container').getByText(`Session not found: ${id}`).waitFor()
    expect(await page.getByText('are you there', { exact: true }).count()).toBe(1)
    await page.context().close()
  })

  test('makes an evaluation set of a session and runs it; the result is there after a restart', async () => {
    let page = await openPage(homes['its own origin']())
    await say(page, 'please look', 'The shelf is full.')
    await page.getByRole('tab', { name: 'Evals' }).click()
    await page.getByText('Create Evaluation Set').click()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('eval_set_1').click()
    await page.getByRole('button', { name: 'From Current Session' }).click()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('.eval-case-row').getByText('please_look').waitFor()
    await page.getByRole('button', { name: 'Run All' }).click()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.locator('.status-card').getByText('1 PASS').waitFor()
    await page.locator('.status-card__history-case').click()
    await page.getByText('Tool Trajectory').nth(1).waitFor()
    await page.getByText('The shelf is full.', { exact: true }).waitFor()
    await page.context().close()

    await server.stop()
    server = await adkWebServer(join(folder, 'data'))
    page = await openPage(homes['its own origin']())
    await page.getByRole('tab', { name: 'Evals' }).click()
    // adk-web keeps the list of runs that it had when a set was opened, so the set is opened after the results came.
    const results = page.waitForResponse(/\/eval_results\/./)
    await page.reload()
    await page.getByRole('tab', { name: 'Evals' }).click()
    await (await results).finished()
    await page.getByText('eval_set_1').click()
    await page.locator('app-eval-tab button').filter({ hasText: 'history' }).click()
    await page.locator('.eval-case-row').getByText('1 PASS').waitFor()
    await page.context().close()
  })

  test('says how to install it where it is not', async () => {
    const { child, said } = command(folder, 'serve', '--port', '0', '--data-dir', 'other', '--adk-web')
    const [sentence] = await said(/millrace: .*\n/)
    expect(sentence).toMatch(/needs the package @google\/adk-devtools, which is not installed: run `npm install/)
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBe(1)
  })
})
