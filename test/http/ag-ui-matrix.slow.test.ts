import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agUiLines, ClientBench, installedVersion } from '../kit/ag-ui-clients.ts'
import { documentMatrix } from '../kit/ag-ui-matrix-docs.ts'
import type { AgUiNote } from '../kit/ag-ui-scenario.ts'
import { chatScenarios } from '../kit/ag-ui-scenarios-chat.ts'
import { historyScenarios } from '../kit/ag-ui-scenarios-history.ts'
import { peopleScenarios } from '../kit/ag-ui-scenarios-people.ts'
import { built, oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'

// Every line of the official client that people have installed, over HTTP, against the built server.

const scenarios = [...chatScenarios, ...peopleScenarios, ...historyScenarios]
const agents = fileURLToPath(new URL('../kit/ag-ui-agents/', import.meta.url))
const outcomes = new Map<string, AgUiNote | 'works'>()

let served: Served
let folder: string
beforeAll(async () => {
  await built()
  folder = mkdtempSync(join(tmpdir(), 'millrace-ag-ui-'))
  // A user for each client: the number of runs per minute is limited by user.
  const tokens = agUiLines.flatMap(({ version }) => ['--token', `user-${version}=${tokenOf(version)}`])
  served = await serveBuilt(
    [
      'serve',
      '--port',
      '0',
      '--data-dir',
      folder,
      '--agents',
      agents,
      '--log-level',
      'error',
      ...oneProcess,
      ...tokens,
    ],
    { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0', PATH: process.env.PATH ?? '' },
  )
})
afterAll(async () => {
  await served.kill()
  rmSync(folder, { recursive: true })
})

const tokenOf = (version: string): string => `token-of-the-client-${version}`

describe.each(agUiLines)('@ag-ui/client $version', (line) => {
  let bench: ClientBench
  beforeAll(() => {
    bench = new ClientBench(line, served.address, tokenOf(line.version))
  })

  test('is the version that is installed', () => {
    expect(installedVersion(line)).toBe(line.version)
  })

  test.each(scenarios)('$name', async ({ name, run }) => {
    outcomes.set(`${line.version} ${name}`, (await run(bench)) ?? 'works')
  })
})

test('docs/clients.md has the class for threads that survive a reload, as it ran', () => {
  const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
  expect(read('../../docs/clients.md')).toContain(read('../kit/ag-ui-thread-agent.ts'))
})

test('docs/clients.md has the table of this run', () => {
  const wrong = documentMatrix(
    agUiLines.map(({ version }) => version),
    scenarios.map(({ name }) => name),
    outcomes,
  )
  expect(wrong, 'run this file with MILLRACE_WRITE_DOCS=1 and commit docs/clients.md').toBe('')
})
