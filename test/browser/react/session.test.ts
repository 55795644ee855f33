import { fold, type RunEvent, transcriptView } from '@millrace/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../../kit/scripted-agent.ts'
import { testServer } from '../../kit/server.ts'
import { launchChromium } from '../chromium.ts'
import { buildPage, reactVersions } from './built-page.ts'
import { openScene, type SceneTab } from './tab.ts'

const echo = scriptedAgent('echo', (input) => speech('echo', `You said: ${textOf(input)}`))
/** Speaks until it is stopped. */
const endless = scriptedAgent('endless', async function* (_, { signal }) {
  for (let i = 0; !signal.aborted; i++) {
    const content = { parts: [{ text: `${i} ` }] }
    const event = { id: `p${i}`, author: 'endless', invocationId: 'i', timestamp: 1.76e12, partial: true, content }
    yield { kind: 'agent', message: 'm', event } satisfies RunEvent
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
})
/** Asks first, and says what it was answered. */
const careful = scriptedAgent('careful', function* (input) {
  const answer = input.resume?.[0]
  if (answer === undefined) yield { kind: 'interrupt', id: 'q', reason: 'confirmation', message: 'Really?' }
  else yield* speech('careful', `Answered ${JSON.stringify(answer.payload)}`)
})

describe.each(reactVersions)('a session in a browser, React %d', (version) => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    const page = await buildPage(version, 'development')
    server = await testServer({ page, with: [echo, endless, careful], fallback: 'echo' } as never)
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser.close()
    await server.close(0)
  })
  const open = (agent: string, session: string): Promise<SceneTab> =>
    openScene(browser, `${address}/?scene=chat&strict&agent=${agent}&session=${session}`)
  const latest = async (tab: SceneTab, status: string): Promise<void> => {
    await tab.page.waitForFunction(
      (wanted) => (window.report.values.latest as { status?: string } | undefined)?.status === wanted,
      status,
    )
  }
  const rest = async (session: string): Promise<unknown> =>
    JSON.parse(JSON.stringify(fold(transcriptView, await server.log.read(session, { after: 0 }))))

  test('a first message makes the session that the page already looks at; two tabs see the same', async () => {
    const tab = await open('echo', 'talk')
    await tab.page.waitForFunction(
      () => (window.report.values.connection as { how?: string } | undefined)?.how === 'refused',
    )
    await tab.act('send', 'hello there')
    await latest(tab, 'done')
    expect(await tab.act('json')).toEqual(await rest('talk'))
    expect(await tab.page.locator('[data-author="echo"]').allTextContents()).toEqual(['You said: hello there'])
    const other = await open('echo', 'talk')
    await latest(other, 'done')
    await other.act('send', 'and again')
    await tab.page.getByText('You said: and again').waitFor()
    await other.page.getByText('You said: and again').waitFor()
    await expect.poll(() => tab.act('json')).toEqual(await rest('talk'))
    expect(await tab.value('connection')).toEqual({ phase: 'open' })
    // Looking for a session that is not there yet is answered with 404, which Chromium prints.
    expect(tab.noise.filter((line) => !line.includes('404'))).toEqual([])
    expect(other.noise).toEqual([])
  })

  test.each(['broken', 'correct'])('the documented "%s" component on our own plan/execute surface', async (scene) => {
    await server.log.create({ id: 's', user: 'user', agent: 'echo' }).catch(() => {})
    const tab = await openScene(browser, `${address}/?scene=${scene}&strict`)
    await tab.page.getByRole('button').click()
    await tab.until('status', 'closed')
    await tab.page.waitForFunction(() => (window.report.values.messages as unknown[]).length > 0)
    expect(await tab.value('messages')).toEqual([{ content: 'You said: hello' }])
    expect(tab.noise).toEqual([])
  })

  test('stop ends the run, and only stop: leaving the page does not', async () => {
    const tab = await open('endless', 'long')
    await tab.act('send', 'go')
    await latest(tab, 'running')
    await tab.page.close()
    const back = await open('endless', 'long')
    await latest(back, 'running')
    await back.act('stop')
    await latest(back, 'cancelled')
    expect(await back.value('pending')).toBe(false)
    await expect.poll(() => back.act('json')).toEqual(await rest('long'))
    expect(back.noise).toEqual([])
  })

  test('an interrupt is shown, answered, and the run goes on', async () => {
    const tab = await open('careful', 'ask')
    await tab.act('send', 'do it')
    await latest(tab, 'interrupted')
    expect(await tab.value('asked')).toMatchObject([{ id: 'q', message: 'Really?', status: 'open' }])
    await tab.act('resume', [{ interrupt: 'q', status: 'resolved', payload: 'yes' }])
    await tab.page.getByText('Answered "yes"').waitFor()
    await latest(tab, 'done')
    expect(await tab.value('asked')).toEqual([])
    const refused = await tab.page.evaluate(async () => {
      const resume = window.report.acts.resume as unknown as (answers: unknown) => Promise<unknown>
      return resume([{ interrupt: 'never asked', status: 'resolved' }]).then(String, () => 'refused')
    })
    expect(refused).toBe('refused')
    await tab.page.waitForFunction(() => window.report.values.error !== undefined)
  })
})
