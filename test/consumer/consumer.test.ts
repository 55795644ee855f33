import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { discoverAgents } from '@millrace/server'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { packedFolder } from '../../scripts/pack.mjs'
import { launchChromium } from '../browser/chromium.ts'
import { withReact } from '../browser/react/built-page.ts'
import { exampleAgents } from '../kit/built-packages.ts'
import { testServer } from '../kit/server.ts'

/**
 * A project of a stranger: the code of the documents and of packages/react/README.md, compiled against the declarations
 * that ship, built by Vite, and run in a browser against the server with the example agents.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const project = `${packedFolder}/consumer`
const page = `${root}.cache/consumer-page`

const compile = (): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', project])

beforeAll(() => {
  rmSync(project, { recursive: true, force: true })
  cpSync(`${root}test/consumer`, project, { recursive: true })
  cpSync(`${root}test/contract/react-readme.tsx`, `${packedFolder}/contract/react-readme.tsx`)
})

test('it compiles against the declarations that ship, and a wrong type is an error', async () => {
  await expect(compile()).resolves.toMatchObject({ stdout: '' })
  writeFileSync(
    `${project}/wrong.ts`,
    "import { normalizeAdkEvent } from '@millrace/core'\nexport const wrong: number[] = normalizeAdkEvent({ id: '', author: '' }).textParts\n",
  )
  await expect(compile()).rejects.toMatchObject({ stdout: expect.stringContaining('wrong.ts(2,14)') })
})

describe('it runs', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let browser: Browser
  let address: string
  const noise: string[] = []
  beforeAll(async () => {
    await build({
      ...withReact(19, 'development'),
      build: {
        outDir: page,
        emptyOutDir: true,
        minify: false,
        rolldownOptions: {
          input: { page: `${root}test/consumer/page.tsx` },
          output: { entryFileNames: 'assets/[name].js' },
        },
      },
    })
    mkdirSync(page, { recursive: true })
    const head = '<meta charset="utf-8"><title>Consumer</title><link rel="icon" href="data:,">'
    const body = '<div id="root"></div><script type="module" src="./assets/page.js"></script>'
    writeFileSync(
      `${page}/index.html`,
      `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`,
    )
    const agents = discoverAgents(exampleAgents, { models: { tokensPerSecond: 0 } })
    await agents.warm()
    server = await testServer({ page, agents, fallback: 'research' })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    browser = await launchChromium()
  })
  afterEach(() => expect(noise.splice(0)).toEqual([]))
  afterAll(async () => {
    await browser.close()
    await server.close(0)
  })

  const open = async (show: string): Promise<Page> => {
    const tab = await (await browser.newContext()).newPage()
    tab.on('pageerror', (error) => noise.push(error.message))
    tab.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') noise.push(message.text())
    })
    await tab.goto(`${address}/?show=${show}`)
    return tab
  }
  const button = (tab: Page, name: string) => tab.getByRole('button', { name, exact: true })

  test('the chat of the document: authors, status updates, the messages of the user, and all of it after a reload', async () => {
    const tab = await open('DocumentedChat')
    await button(tab, 'Send').click()
    await tab.getByTestId('status-function-call').first().waitFor()
    await tab.getByText('ready', { exact: true }).waitFor()
    const authors = await tab.getByTestId('message-author').allTextContents()
    expect(authors).toEqual(expect.arrayContaining(['user', 'plan_generator', 'section_researcher']))
    expect(authors[0]).toBe('user')
    expect(await tab.getByTestId('status-function-call').allTextContents()).toContain('web_search')
    expect((await tab.getByTestId('agents').textContent())?.split(' ')).not.toContain('active')
    const said = await tab.getByTestId('message').allTextContents()
    expect(said[0]).toBe('user Research quantum computing')
    await tab.reload()
    await tab
      .getByTestId('message')
      .nth(said.length - 1)
      .waitFor()
    expect((await tab.getByTestId('message').allTextContents()).toSorted()).toEqual(said.toSorted())
    await button(tab, 'Send').click()
    await tab.locator('[data-role=user]').nth(1).waitFor()
    await tab.getByText('ready', { exact: true }).waitFor()
    expect((await tab.getByTestId('message').count()) > said.length).toBe(true)
  })

  test('the traces of the document: snapshots, the current one, and the keys by edge', async () => {
    const tab = await open('DocumentedTraces')
    await button(tab, 'Run').click()
    await tab.getByText('closed', { exact: true }).waitFor()
    const snapshots = (await tab.getByTestId('snapshots').textContent())?.split('\n') ?? []
    expect(snapshots.length).toBeGreaterThan(2)
    expect(snapshots.every((line) => line.endsWith(' success'))).toBe(true)
    expect(await tab.getByTestId('current').textContent()).not.toBe('')
    expect(await tab.getByTestId('keys').textContent()).toContain(':')
  })

  test('`streaming: false` of /run_sse has every author, and no partials', async () => {
    const post = (path: string, body: object): Promise<Response> =>
      fetch(address + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(body),
      })
    await post('/apps/research/users/u/sessions', { sessionId: 'whole' })
    const newMessage = { parts: [{ text: 'Research quantum computing' }] }
    const run = { appName: 'research', userId: 'u', sessionId: 'whole', newMessage, streaming: false }
    const text = await (await post('/run_sse', run)).text()
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    const authors = events.map(({ author }) => author)
    expect(authors).toEqual(expect.arrayContaining(['dispatcher', 'section_researcher', 'report_composer']))
    expect(events.filter(({ partial }) => partial === true)).toEqual([])
  })

  test('the chat of the README', async () => {
    const tab = await open('Page')
    await button(tab, 'Send').click()
    await tab.getByText('section_researcher:').first().waitFor()
    await button(tab, 'Send').waitFor()
    // Until the first message there is no session to follow, and a browser reports the refusal.
    expect(noise.splice(0)).toEqual([expect.stringContaining('404')])
  })

  test('useSSE of the README', async () => {
    const tab = await open('Streamed')
    await button(tab, 'Send').click()
    await tab.locator('p', { hasText: /\w/ }).waitFor()
    await button(tab, 'closed').waitFor()
    expect(await tab.locator('p').textContent()).toMatch(/\w+ \w+/)
  })

  test('the debugger of the README', async () => {
    const tab = await open('Debugger')
    await button(tab, 'Run').click()
    await tab.locator('p', { hasText: ':' }).waitFor()
    expect(Number(await tab.locator('input').getAttribute('max'))).toBeGreaterThan(0)
  })

  test('the store of the README', async () => {
    const tab = await open('Canonical')
    await button(tab, 'Send').click()
    await tab.getByText('section_researcher (idle):').first().waitFor()
    expect(await tab.locator('p').first().textContent()).toMatch(/^user/)
  })
})
