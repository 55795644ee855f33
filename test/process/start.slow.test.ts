import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { built } from '../kit/built-server.ts'

/**
 * `npm start` on an installed, built tree. The bar is one second on a quiet machine (`npm run bench start`
 * prints it); what a test can hold on any machine is what makes it so: the port answers while ADK cannot be imported.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const start = join(root, 'scripts/start.mjs')
const hold = new URL('../kit/held-import.mjs', import.meta.url).href
let folder = ''
let child: ChildProcess | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-start-'))
  await built()
})
afterAll(async () => {
  if (child !== undefined) {
    const gone = ended(child)
    child.kill('SIGTERM')
    await gone
  }
  await rm(folder, { recursive: true, force: true })
})

const ended = (process: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => process.once('exit', (code) => resolve(code)))

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function answering(port: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('npm start', () => {
  test('answers /health before ADK could be imported, and the first run pays for that once', async () => {
    const port = await freePort()
    const until = join(folder, 'adk-may-load')
    const notes = join(folder, 'adk-loads')
    const held = { HELD_PACKAGE: '/@google/adk/', HELD_UNTIL: until, HELD_NOTES: notes }
    const env = { ...process.env, ...held, PORT: String(port), DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'silent' }
    // The hold is inherited by every process that the server may start.
    child = spawn(process.execPath, [start], {
      cwd: root,
      env: { ...env, NODE_OPTIONS: `--import=${hold}` },
      stdio: 'ignore',
    })
    // No file of ADK can be read yet, in no process, so that an answer proves that none was needed.
    await answering(port)
    expect(existsSync(until)).toBe(false)

    let isOver = false
    const first = greeting(port, 't1').finally(() => {
      isOver = true
    })
    const loads = (): readonly string[] => readFileSync(notes, 'utf8').trimEnd().split('\n')
    await vi.waitFor(() => expect(loads()).not.toEqual([]), { timeout: 600_000, interval: 10 })
    expect(isOver).toBe(false)
    writeFileSync(until, '')
    await first

    const paid = loads()
    expect(paid.length).toBeGreaterThan(1)
    expect(new Set(paid).size).toBe(paid.length)
    for (const thread of ['t2', 't3']) await greeting(port, thread)
    expect(loads()).toEqual(paid)
  })
})

/** One run of the assistant, to its end. */
async function greeting(port: number, threadId: string): Promise<void> {
  const body = { threadId, runId: `${threadId}-r`, messages: [{ id: '1', role: 'user', content: 'Hello' }] }
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, tools: [], context: [], state: {}, forwardedProps: {} }),
  })
  expect(await answer.text()).toContain('RUN_FINISHED')
}
