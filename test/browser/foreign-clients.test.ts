import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentTable } from '../kit/ag-ui-matrix-docs.ts'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { FrontEndBench } from '../kit/front-end-bench.ts'
import { frontEnds } from '../kit/front-end-drivers.ts'
import { dependenciesOf, type ServedPage, servePage, typeErrorsOf, versionOf } from '../kit/front-end-pages.ts'
import { type FrontEndNote, frontEndNotes, frontEndScenarios } from '../kit/front-end-scenarios.ts'
import { launchChromium } from './chromium.ts'

// The chat libraries that people have, unmodified, in a real browser on the built server: the pages of examples/.

const agents = fileURLToPath(new URL('../kit/ag-ui-agents/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'millrace-front-ends-'))
const outcomes = new Map<string, FrontEndNote | 'works'>()
let served: Served
let browser: Browser
beforeAll(async () => {
  const flags = ['--data-dir', folder, '--agents', agents, '--log-level', 'error']
  served = await serveBuilt(['serve', '--port', '0', ...oneProcess, ...flags], {
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0',
    PATH: process.env.PATH ?? '',
  })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await served.kill()
  rmSync(folder, { recursive: true })
})

describe.each(frontEnds)('$title', (frontEnd) => {
  let page: ServedPage
  let bench: FrontEndBench
  beforeAll(async () => {
    page = await servePage(frontEnd.name, served.address)
    bench = new FrontEndBench(frontEnd, browser, page.address, served.address)
  })
  afterAll(() => page.close())

  test('is installed as the example asks, and the page compiles', async () => {
    const [asked, installed] = dependenciesOf(frontEnd.name)
    expect(installed).toMatchObject(asked ?? {})
    expect(await typeErrorsOf(frontEnd.name)).toBe('')
  })

  test.each(frontEndScenarios)('$name', async ({ name, run }) => {
    outcomes.set(`${frontEnd.title} ${name}`, (await run(bench)) ?? 'works')
  })
})

test('docs/clients.md has the table of this run, the versions, and the runner as it ran', () => {
  const wrong = documentTable({
    mark: 'front-ends',
    corner: 'what people do',
    clients: frontEnds.map(({ title }) => title),
    scenarios: frontEndScenarios.map(({ name }) => name),
    outcomes,
    notes: frontEndNotes,
    without: ['noState'],
  })
  expect(wrong, 'run this file with MILLRACE_WRITE_DOCS=1 and commit docs/clients.md').toBe('')
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const text = read('docs/clients.md')
  expect(text).toContain(read('examples/copilotkit/millrace-runner.mjs'))
  for (const { name, packages } of frontEnds)
    for (const each of packages) expect(text).toContain(`\`${each}\` ${versionOf(name, each)}`)
})
