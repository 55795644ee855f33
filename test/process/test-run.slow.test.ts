import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { on } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { endOf } from '../kit/command.ts'
import { isAlive } from '../kit/is-alive.ts'

/** How `npm test` ends: by its closing line, also where a suite hangs. Each case is one suite of a folder with a few tests. */
const root = fileURLToPath(new URL('../../', import.meta.url))
let folder = ''

const done = `
import { expect, test } from 'vitest'

test('passes', () => expect(1).toBe(1))
test('fails', () => expect(1).toBe(2))
`

/** A test that starts a process, says which, and never ends. It waits until vitest must know of the tests before it. */
const hanging = `
import { spawn } from 'node:child_process'
${done}
test('hangs', { timeout: 0 }, async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  for (let turn = 0; ; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    if (turn === 20) console.log('started process ' + child.pid)
  }
})
`

beforeAll(() => {
  // Below the checkout, so that the tests of the folder find vitest.
  mkdirSync(`${root}.cache`, { recursive: true })
  folder = mkdtempSync(`${root}.cache/fake-`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function suiteOf(name: string, file: string) {
  const place = `${folder}/${name}`
  mkdirSync(place)
  writeFileSync(`${place}/vitest.config.mjs`, `export default { test: { include: ['*.test.mjs'] } }`)
  writeFileSync(`${place}/${name}.test.mjs`, file)
  const script = fileURLToPath(new URL('../kit/one-suite.mjs', import.meta.url))
  const env = { PATH: process.env.PATH, NO_COLOR: '1' }
  const child = spawn(process.execPath, [script, place, `fake-${name}`], { env })
  const ended = endOf(child).then(({ code, out }) => ({ code, out, last: out.trimEnd().split('\n').at(-1) }))
  return { child, ended }
}

/** The process that the test has started. */
async function startedBy(child: ChildProcessWithoutNullStreams): Promise<number> {
  let out = ''
  for await (const [text] of on(child.stdout, 'data', { close: ['end'] })) {
    out += text
    const [, pid] = /started process (\d+)\n/.exec(out) ?? []
    if (pid !== undefined) return Number(pid)
  }
  throw new Error(`the run ended: ${out}`)
}

test('a suite that ends is counted, and its failures are named', async () => {
  const { code, last, out } = await suiteOf('ends', done).ended
  expect({ code, last }).toEqual({ code: 1, last: '1 passed, 1 failed' })
  expect(out).toMatch(/\nFailed:\n {2}fake-ends: \S*ends\.test\.mjs: fails\n/)
})

test('a suite that hangs is ended with its processes at the limit, and what was running is named', async () => {
  const { child, ended } = suiteOf('hangs', hanging)
  const pid = await startedBy(child)
  child.kill('SIGUSR2')
  const { code, last, out } = await ended
  // The test that failed, the suite, and the run.
  expect({ code, last }).toEqual({ code: 1, last: '1 passed, 3 failed' })
  expect(out).toContain('  the time is over\n')
  expect(out).toMatch(/ {2}fake-hangs: \S*hangs\.test\.mjs: fails\n/)
  expect(out).toMatch(/ {2}fake-hangs had not ended; still running: \S*hangs\.test\.mjs: hangs\n/)
  await vi.waitUntil(() => !isAlive(pid), { timeout: 120_000 })
})

test('a signal ends a run with its suites, and the closing line says that it failed', async () => {
  const { child, ended } = suiteOf('interrupted', hanging)
  const pid = await startedBy(child)
  child.kill('SIGTERM')
  const { code, last } = await ended
  expect({ code, last }).toEqual({ code: 1, last: '0 passed, 1 failed' })
  await vi.waitUntil(() => !isAlive(pid), { timeout: 120_000 })
})
