import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqliteLog } from '@millrace/server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { packedMain } from '../kit/built-packages.ts'
import { isAlive } from '../kit/is-alive.ts'

/** The command on files and folders that are not as it would like them. */
const root = mkdtempSync(join(tmpdir(), 'millrace-files-'))
const at = (name: string): string => join(root, name)
const children = new Set<ChildProcess>()
beforeAll(() => mkdirSync(at('agents')))
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function serve(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const all = [packedMain, 'serve', '--port', '0', '--agents', at('agents'), ...args]
  return started(process.execPath, all, { cwd: root, env: { PATH: process.env.PATH, ...env } })
}
function started(command: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let text = ''
  const waiting = new Set<() => void>()
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk) => {
      text += String(chunk)
      for (const look of waiting) look()
    })
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  const says = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(text)
        if (found !== null) resolve(found[1] ?? '')
      }
      waiting.add(look)
      look()
      void exit.then(() => reject(new Error(`it ended: ${text}`)))
    })
  return { child, exit, says, said: () => text, address: () => says(/listening on (\S+)/) }
}
const mode = (path: string): number => statSync(path).mode & 0o777

describe('the data folder', () => {
  test('is open to its owner alone, and so are the files in it', async () => {
    const made = at('made/deep/data')
    const server = serve(['--data-dir', made])
    const address = await server.address()
    expect(
      (
        await fetch(`${address}/sessions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
      ).ok,
    ).toBe(true)
    expect(mode(made)).toBe(0o700)
    for (const name of ['db', 'db-wal', 'db-shm', 'lock', 'key'])
      expect(mode(join(made, `millrace.${name}`)), name).toBe(0o600)
    server.child.kill('SIGTERM')
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })

  test('of an earlier version is closed to others; a folder with other things keeps its mode', async () => {
    const old = at('old')
    const log = await sqliteLog({ folder: old, now: Date.now })
    await log.close()
    const shared = at('shared')
    mkdirSync(shared)
    writeFileSync(join(shared, 'README'), 'mine')
    for (const folder of [old, shared]) chmodSync(folder, 0o755)
    for (const name of ['db', 'lock', 'key']) chmodSync(join(old, `millrace.${name}`), 0o644)
    for (const folder of [old, shared]) await (await sqliteLog({ folder, now: Date.now })).close()
    expect([mode(old), mode(shared)]).toEqual([0o700, 0o755])
    for (const folder of [old, shared])
      for (const name of ['db', 'lock', 'key']) expect(mode(join(folder, `millrace.${name}`)), name).toBe(0o600)
  })

  test('where no folder can be: one sentence and exit code 1', async () => {
    const server = serve(['--data-dir', '/proc/x'])
    expect(await server.exit).toEqual({ code: 1, signal: null })
    expect(server.said()).toBe(
      'millrace: cannot use the data folder /proc/x: there can be no folder at this path; choose another data folder\n',
    )
  })
})

describe('a running server', () => {
  test('says that its database was removed, acknowledges nothing more, and keeps a second server out', async () => {
    const data = at('data')
    const server = serve(['--data-dir', data])
    const address = await server.address()
    const create = (): Promise<Response> =>
      fetch(`${address}/sessions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    expect((await create()).status).toBe(201)
    // Without its lock, the open database keeps the second server out.
    rmSync(join(data, 'millrace.lock'))
    const second = serve(['--data-dir', data])
    expect((await second.exit).code).toBe(1)
    expect(second.said()).toContain('another process has it open')
    await server.says(/(millrace\.lock: it was removed while in use and has been made again)/)
    expect((await create()).status).toBe(201)
    rmSync(join(data, 'millrace.db'))
    await server.says(/(millrace\.db: it was removed or replaced while in use)/)
    const refused = await create()
    expect(refused.status).toBe(500)
    expect(await refused.json()).toMatchObject({ code: 'store-failed' })
    expect((await fetch(`${address}/health`)).status).toBe(200)
  })
})

describe('signals', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s is obeyed while the server starts', async (signal) => {
    // A configuration that waits for something that never comes.
    const config = at('waits.mjs')
    writeFileSync(config, "console.log('waiting')\nsetInterval(() => {}, 1000)\nawait new Promise(() => {})\n")
    const server = serve(['--data-dir', at(`start-${signal}`), '--config', config])
    await server.says(/(waiting)/)
    server.child.kill(signal)
    expect(await server.exit).toEqual({ code: 0, signal: null })
    await (await sqliteLog({ folder: at(`start-${signal}`), now: Date.now })).close()
  })

  test('SIGTERM to `npm start` reaches the server', async () => {
    const cwd = fileURLToPath(new URL('../../', import.meta.url))
    const env = { ...process.env, PORT: '0', DATA_DIR: at('npm'), LOG_LEVEL: 'silent' }
    const npm = started('npm', ['start', '--', '--config', writtenConfig()], { cwd, env })
    const pid = Number(await npm.says(/server (\d+)\n/))
    await npm.address()
    npm.child.kill('SIGTERM')
    // The pipes close when the last process that has them ends.
    await npm.exit
    // They close a moment before the process is gone.
    await expect.poll(() => isAlive(pid)).toBe(false)
    await (await sqliteLog({ folder: at('npm'), now: Date.now })).close()
  })
})

function writtenConfig(): string {
  const path = at('pid.mjs')
  writeFileSync(path, "console.log('server ' + process.pid)\nexport default { agents: {} }\n")
  return path
}

describe('tokens', () => {
  test('come from a file or a variable, and neither ps nor an agent can see them', async () => {
    const file = at('tokens')
    writeFileSync(file, 'ann=token-of-ann\n', { mode: 0o600 })
    mkdirSync(at('agents/spy'), { recursive: true })
    writeFileSync(
      at('agents/spy/agent.mjs'),
      `export const description = JSON.stringify([process.env.MILLRACE_TOKENS ?? 'none', process.argv.join(' ')])
export const graph = { streamEvents() {}, getGraph: () => ({ nodes: {}, edges: [] }) }\n`,
    )
    const server = serve(['--data-dir', at('tokened'), '--token-file', file], { MILLRACE_TOKENS: 'bob=token-of-bob' })
    const address = await server.address()
    const get = (token: string): Promise<Response> =>
      fetch(`${address}/agents`, { headers: { authorization: `Bearer ${token}` } })
    expect((await get('token-of-nobody')).status).toBe(401)
    expect((await get('token-of-ann')).status).toBe(200)
    const listed = await (await get('token-of-bob')).text()
    expect(listed).toContain('none')
    expect(listed).not.toContain('token-of')
    expect(readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8')).not.toContain('token-of')
    rmSync(at('agents/spy'), { recursive: true })
  })
})
