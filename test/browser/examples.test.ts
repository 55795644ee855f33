import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { discoverAgents } from '@millrace/server'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedImports } from '../../scripts/packed-imports.mjs'
import { exampleAgents } from '../kit/built-packages.ts'
import { testServer } from '../kit/server.ts'
import { launchChromium } from './chromium.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = `${root}.cache/react-chat`
let server: Awaited<ReturnType<typeof testServer>>
let address: string

/** The examples, unchanged, against a server with the agents that ship. */
beforeAll(async () => {
  await build({
    configFile: `${root}examples/react-chat/vite.config.ts`,
    logLevel: 'error',
    mode: 'production',
    plugins: [packedImports()],
    build: { outDir: page, emptyOutDir: true },
  })
  const agents = discoverAgents(exampleAgents, { models: { tokensPerSecond: 0 } })
  await agents.warm()
  server = await testServer({ page, agents })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => server.close(0))

test('react-chat: a multi-agent conversation, a reload, a second question', async () => {
  const browser = await launchChromium()
  try {
    const context = await browser.newContext({ viewport: { width: 900, height: 760 } })
    const tab = await context.newPage()
    const noise: string[] = []
    tab.on('pageerror', (error) => noise.push(error.message))
    await tab.goto(`${address}/?agent=research`)
    await tab.getByLabel('Message').fill('Research quantum computing')
    await tab.getByRole('button', { name: 'Send' }).click()
    await tab.locator('article b', { hasText: 'section_researcher' }).first().waitFor()
    // The run is over: what can be asked again can be sent.
    await tab.getByLabel('Message').fill('And now in short')
    await tab.locator('button:not([disabled])', { hasText: 'Send' }).waitFor()
    const authors = new Set(await tab.locator('article b').allTextContents())
    expect(authors).toContain('plan_generator')
    expect(await tab.locator('article code').count()).toBeGreaterThan(0)
    mkdirSync(`${root}test-results`, { recursive: true })
    await tab.screenshot({ path: `${root}test-results/react-chat.png` })
    const before = await tab.locator('article').allTextContents()
    await tab.reload()
    await tab
      .locator('article')
      .nth(before.length - 1)
      .waitFor()
    await expect.poll(() => tab.locator('article').allTextContents()).toEqual(before)
    expect(noise).toEqual([])
  } finally {
    await browser.close()
  }
})

test('node-tail: prints a session as it happens', async () => {
  await server.log.create({ id: 'tailed', user: 'user', agent: 'assistant' })
  const tail = spawn(process.execPath, [`${root}examples/node-tail/tail.mjs`, 'tailed', address], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const input = {
      messages: [{ id: 'm', role: 'user' as const, content: { parts: [{ text: 'Weather in Lisbon?' }] } }],
    }
    await server.engine.start({ session: 'tailed', user: 'user', agent: 'assistant', input })
    const lines: string[] = []
    for await (const line of createInterface({ input: tail.stdout })) {
      lines.push(line)
      if (/ run /.test(line)) break
    }
    expect(lines.at(-1)).toMatch(/^\d+ run done$/)
    expect(lines.some((line) => /^\d+ assistant calls \w+/.test(line))).toBe(true)
    expect(lines.some((line) => /^\d+ assistant: .*Lisbon/.test(line))).toBe(true)
  } finally {
    tail.kill()
    if (tail.exitCode === null && tail.signalCode === null) await once(tail, 'exit')
  }
})

test('node-tail: a session that does not exist is reported, and the exit code is 1', async () => {
  const tail = spawn(process.execPath, [`${root}examples/node-tail/tail.mjs`, 'nowhere', address], { stdio: 'pipe' })
  tail.stdout.resume()
  let said = ''
  tail.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const [code] = await once(tail, 'close')
  expect(said).toContain('refused')
  expect(code).toBe(1)
})
