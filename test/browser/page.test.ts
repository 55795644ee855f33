import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testServer } from '../server.ts'
import { loadVectors, wireText } from '../vectors.ts'
import { launchChromium } from './chromium.ts'

const page = new URL('../../packages/cli/page/', import.meta.url).pathname
const { app, close } = await testServer({ page, newId: () => 'recovery-1' })
let browser: Browser
let address: string
beforeAll(async () => {
  browser = await launchChromium()
  address = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await browser.close()
  await close(0)
})

test('the page shows what the agents said, and what could not be read', async () => {
  const [vector] = loadVectors('adk').filter(({ name }) => name === 'seed-004-recovery')
  await app.inject({
    method: 'POST',
    url: '/sessions/import?dialect=adk',
    headers: { 'content-type': 'text/event-stream' },
    payload: `${wireText(vector!.wire.slice(0, -1))}data: this is not JSON\n\n`,
  })
  const tab = await browser.newPage()
  const errors: string[] = []
  tab.on('pageerror', (error) => errors.push(error.message))
  tab.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  await tab.goto(`${address}/s/recovery-1`)
  await tab.getByText('Overall Confidence').first().waitFor()
  expect(await tab.getByTestId('message-author').allTextContents()).toContain('coordinator')
  expect(await tab.getByText('this is not JSON').count()).toBe(1)
  expect(errors).toEqual([])
})
