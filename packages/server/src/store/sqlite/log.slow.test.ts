import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { defined } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleChild } from '../../../../../test/kit/built-child.ts'
import { full } from '../../../../../test/kit/full.ts'
import { unprivileged } from '../../../../../test/kit/unprivileged.ts'
import { sqliteLog } from './log.ts'

const runner = fileURLToPath(new URL('../../../../../test/kit/run-child.mjs', import.meta.url))
const bundles = { appender: '', filler: '' }
beforeAll(async () => {
  for (const name of ['appender', 'filler'] as const) bundles[name] = await bundleChild(name)
})
const root = mkdtempSync(join(tmpdir(), 'millrace-slow-'))
chmodSync(root, 0o755)
const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true })
})

/** Starts one of test/process/children as a process. */
function run(
  module: keyof typeof bundles,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; shell?: string } = {},
): ChildProcess {
  const command = [process.execPath, runner, bundles[module], ...args]
  const [file = '', ...rest] =
    options.shell === undefined ? command : ['sh', '-c', `${options.shell}; exec "$@"`, 'sh', ...command]
  const child = spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...defined({ env: options.env }),
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

interface Said {
  readonly what: 'ack' | 'seen'
  readonly id: string
  readonly seq: number
  readonly event: unknown
}

/** Kills an appender after some rows and returns all that it had printed. */
async function life(
  folder: string,
  name: string,
  rows: number,
  meanwhile?: () => Promise<void>,
): Promise<readonly Said[]> {
  const child = run('appender', [folder, name])
  const said: Said[] = []
  let text = ''
  for await (const chunk of child.stdout!.setEncoding('utf8')) {
    text += chunk
    const lines = text.split('\n')
    // A killed process may have printed a half of its last line.
    text = lines.pop() ?? ''
    for (const line of lines) {
      said.push(JSON.parse(line))
      if (said.length === 100) await meanwhile?.()
    }
    if (said.length >= rows) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
  return said
}

test('SPEC 2.2: every acknowledged or seen row survives kill -9, byte for byte; SPEC 2.1: without a gap', async () => {
  const folder = join(root, 'killed')
  const said: Said[] = []
  for (let i = 0; i < (full ? 8 : 4); i++)
    said.push(...(await life(folder, `life ${i}`, 200 + Math.floor(Math.random() * 3000))))
  const log = await sqliteLog({ folder, now: () => 1 })
  expect(await log.integrity()).toEqual([])
  const stored = new Map<string, unknown>()
  for (const { id, lastSeq, events } of (await log.list({ limit: 500 })).sessions) {
    const rows = await log.read(id, { after: 0 })
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: lastSeq }, (_, i) => i + 1))
    expect(events).toBe(rows.length)
    for (const { seq, event } of rows) stored.set(`${id} ${seq}`, event)
  }
  await log.close()
  expect(said.filter(({ what }) => what === 'ack').length).toBeGreaterThan(500)
  expect(said.filter(({ what }) => what === 'seen').length).toBeGreaterThan(100)
  const lost = said.filter(({ id, seq, event }) => JSON.stringify(stored.get(`${id} ${seq}`)) !== JSON.stringify(event))
  expect(lost).toEqual([])
})

test('one process at a time may open a folder, and a killed one leaves no lock', async () => {
  const folder = join(root, 'locked')
  await life(folder, 'first', 500, async () => {
    await expect(sqliteLog({ folder, now: () => 1 })).rejects.toMatchObject({
      code: 'store-failed',
      facts: { reason: 'locked', place: folder },
    })
  })
  const log = await sqliteLog({ folder, now: () => 1 })
  expect((await log.list({})).total).toBe(20)
  await log.close()
})

async function answerOf(child: ChildProcess): Promise<unknown> {
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout! })) lines.push(line)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  expect({ exit: child.exitCode, signal: child.signalCode }).toEqual({ exit: 0, signal: null })
  return JSON.parse(lines.at(-1) ?? 'null')
}

test('a full disk refuses clearly, nothing is half written, and all rows are there later', async () => {
  const folder = join(root, 'full')
  // The limit of 1,000 blocks per file makes the system refuse the write as it does on a full disk.
  const answer = await answerOf(run('filler', [folder], { shell: 'ulimit -f 1000' }))
  expect(answer).toMatchObject({ code: 'store-failed' })
  const { taken, readable, lastSeq } = answer as { taken: number; readable: number; lastSeq: number }
  expect(taken).toBeGreaterThan(10)
  expect([readable, lastSeq, taken % 2]).toEqual([taken, taken, 0])
  const log = await sqliteLog({ folder, now: () => 1 })
  expect(await log.integrity()).toEqual([])
  expect((await log.read('s', { after: 0 })).length).toBe(taken)
  expect((await log.append('s', [{ run: '', event: { kind: 'log', level: 'info', message: 'room' } }]))[0]?.seq).toBe(
    taken + 1,
  )
  await log.close()
})

test('a folder without write permission is refused clearly and stays empty', async () => {
  const folder = join(root, 'read-only')
  mkdirSync(folder)
  chmodSync(folder, 0o555)
  expect(await answerOf(run('filler', [folder], unprivileged))).toEqual({
    code: 'store-failed',
    reason: 'read-only',
    taken: 0,
  })
  expect(readdirSync(folder)).toEqual([])
  chmodSync(folder, 0o755) // so that it can be deleted
})
