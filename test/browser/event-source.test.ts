import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { launchChromium } from './chromium.ts'

/** A frame as an EventSource hands it out. */
type Got = readonly [type: string, lastEventId: string, data: string]

const folder = mkdtempSync(join(tmpdir(), 'millrace-source-'))
const env = { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '25' }
let browser: Browser
let served: Served
beforeAll(async () => {
  served = await serveBuilt(['--port', '0', '--data-dir', folder, ...oneProcess], env)
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await served.kill()
  rmSync(folder, { recursive: true })
})

const post = async (path: string, body: unknown): Promise<Response> => {
  const answer = await fetch(`${served.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.ok, `${path} ${answer.status}`).toBe(true)
  return answer
}
const said = (text: string) => ({ messages: [{ id: 'u', role: 'user', content: { parts: [{ text }] } }] })

/** Opens real EventSources in the page; they keep every frame, and nothing else is done for them. */
function listen(page: Page, as: string, paths: Readonly<Record<string, string>>): Promise<void> {
  return page.evaluate(
    ([name, urls]) => {
      const named = [
        'message',
        'session',
        'trace',
        'chunk',
        'log',
        'tool_call',
        'tool_result',
        'content',
        'done',
        'end',
      ]
      const plan = [
        'task_selected',
        'task_completed',
        'reflection',
        'artifact_created',
        'data_modified',
        'tasks_updated',
      ]
      const all = Object.entries(urls).map(([key, url]) => {
        const source = new EventSource(url)
        const got: [string, string, string][] = []
        const reader = { key, source, got, opened: 0 }
        source.addEventListener('open', () => {
          reader.opened += 1
        })
        const keep = (event: Event): void => {
          if (event instanceof MessageEvent) got.push([event.type, event.lastEventId, event.data])
        }
        // A server's `error` event and a lost connection share a name; only the first is a message.
        for (const type of [...named, ...plan, 'error']) source.addEventListener(type, keep)
        return reader
      })
      Object.assign(window, { [name]: all })
    },
    [as, paths] as const,
  )
}

interface Seen {
  readonly key: string
  readonly got: readonly Got[]
  readonly opened: number
  readonly closed: boolean
}
const seen = (page: Page, as: string): Promise<readonly Seen[]> =>
  page.evaluate((name) => {
    const all = Reflect.get(window, name) as { key: string; got: Got[]; opened: number; source: EventSource }[]
    return all.map(({ key, got, opened, source }) => ({ key, got, opened, closed: source.readyState === 2 }))
  }, as)

const until = async (page: Page, as: string, is: (all: readonly Seen[]) => boolean): Promise<readonly Seen[]> => {
  for (;;) {
    const all = await seen(page, as)
    if (is(all)) return all
    await page.waitForTimeout(100)
  }
}

test('a real EventSource outlives a crash of the server, and has what an undisturbed one has', async () => {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${served.address}/docs`)
  // One run that a crash ends, and one that goes on after it.
  await post('/sessions/plan/runs', {
    agent: 'planner',
    run: 'make',
    input: said('Plan a competitor analysis of the CRM market'),
  })
  const made = await fetch(`${served.address}/sessions/plan/events?dialect=plan&run=make`)
  expect(await made.text()).toContain('tasks_updated')
  await post('/sessions/count/runs', { agent: 'assistant', run: 'r', input: said('Count slowly to 200') })
  await post('/sessions/plan/runs', { agent: 'planner', run: 'r', input: { messages: [], props: { mode: 'execute' } } })
  const paths = {
    'ag-ui of a run': '/sessions/count/events?dialect=ag-ui&run=r',
    'studio of a run': '/sessions/count/events?dialect=studio&run=r',
    'plan of a run': '/sessions/plan/events?dialect=plan&run=r',
  }
  await listen(page, 'disturbed', paths)
  await until(page, 'disturbed', (all) => all.every(({ got }) => got.length >= 8))
  await served.kill()
  const cut = await seen(page, 'disturbed')
  expect(cut.every(({ closed }) => !closed)).toBe(true)
  served = await serveBuilt(['--port', new URL(served.address).port, '--data-dir', folder, ...oneProcess], env)
  // The stream of a run ends with it; asked again after the end, the server says 204, and a browser stops.
  const disturbed = await until(page, 'disturbed', (all) => all.every(({ closed }) => closed))
  await listen(page, 'undisturbed', paths)
  const undisturbed = await until(page, 'undisturbed', (all) => all.every(({ closed }) => closed))

  for (const [i, reader] of disturbed.entries()) {
    expect(reader.opened, reader.key).toBeGreaterThanOrEqual(2)
    expect(reader.got.length, reader.key).toBeGreaterThan(cut[i]?.got.length ?? 0)
    expect(undisturbed[i]?.opened, reader.key).toBe(1)
    expect(reader.got, reader.key).toEqual(undisturbed[i]?.got)
  }
  const last = (i: number): Got | undefined => disturbed[i]?.got.at(-1)
  expect(JSON.parse(last(0)?.[2] ?? '')).toMatchObject({ type: 'RUN_ERROR' })
  expect(last(1)?.[0]).toBe('end')
  expect(JSON.parse(last(2)?.[2] ?? '')).toMatchObject({ type: 'done', summary: { failed: 0 } })
})
