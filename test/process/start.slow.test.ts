import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { built } from '../kit/built-server.ts'

/**
 * `npm start` on an installed, built tree. The bar is one second on a quiet machine (`npm run bench start`
 * prints it); what a test can hold on any machine is what makes it so: the port answers before ADK could be imported.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const start = join(root, 'scripts/start.mjs')
let folder = ''
let child: ChildProcess | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-start-'))
  // What is timed is the start alone.
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
    const env = { ...process.env, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'silent' }
    child = spawn(process.execPath, [start], { cwd: root, env, stdio: 'ignore' })
    // Beside it, at the same time and so under the same load, a process that imports ADK and does nothing else.
    const importing = spawn(process.execPath, ['-e', "import('@google/adk')"], { cwd: root, stdio: 'ignore' })
    const order: string[] = []
    await Promise.all([
      answering(port).then(() => order.push('health')),
      ended(importing).then(() => order.push('adk')),
    ])
    expect(order).toEqual(['health', 'adk'])

    const first = await greeting(port, 't1')
    const later = Math.min(await greeting(port, 't2'), await greeting(port, 't3'), await greeting(port, 't4'))
    expect(later).toBeLessThan(first / 2)
  })
})

/** Milliseconds of one run of the assistant. */
async function greeting(port: number, threadId: string): Promise<number> {
  const begun = performance.now()
  const body = { threadId, runId: `${threadId}-r`, messages: [{ id: '1', role: 'user', content: 'Hello' }] }
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, tools: [], context: [], state: {}, forwardedProps: {} }),
  })
  expect(await answer.text()).toContain('RUN_FINISHED')
  return performance.now() - begun
}
