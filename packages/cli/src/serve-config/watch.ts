import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { unwatchFile, watchFile } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { envFiles } from '../env-files.ts'
import { remark } from '../output.ts'
import { flagsIn } from './print-config.ts'

const main = fileURLToPath(new URL(`../main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url))
const names = ['millrace.config.ts', 'millrace.config.js', 'millrace.config.mjs', 'millrace.config.json', '.env']

/** How often the files are looked at, in ms. */
const every = 500

/**
 * Runs the server as a process of its own, and starts it again when a configuration or a `.env` file has changed. Agents
 * need no restart: the server reloads them itself. `otherwise` is the agents folder to use when no setting names one.
 * Resolves with the exit code of the server that a signal ends.
 */
export async function watchServer(args: readonly string[], otherwise: string): Promise<number> {
  const rest = args.filter((arg) => arg !== '--watch')
  const flags = flagsIn(rest)
  // A copy, because the server reads the files again at each start: an edit must take effect.
  const env = envFiles({ ...process.env }, process.cwd()).base
  const given = flags.get('agents') ?? (env.MILLRACE_AGENTS || undefined)
  const named = given === undefined ? ['--agents', otherwise] : []
  const agents = given ?? otherwise
  const config = flags.get('config') ?? (env.MILLRACE_CONFIG || undefined)
  const folders = new Set([process.cwd(), resolve(agents), resolve(agents, '..')])
  const usual = [...folders].flatMap((folder) => names.map((name) => join(folder, name)))
  const files = config === undefined ? usual : [...new Set([resolve(config), ...usual])]
  let child: ChildProcess
  let changed = false
  let stopped = false
  // Ctrl-C at a terminal goes to a whole group. The server has its own, because a second signal would end it at once.
  const start = (): ChildProcess =>
    spawn(process.execPath, [...process.execArgv, main, 'serve', ...rest, ...named], {
      stdio: 'inherit',
      detached: true,
    })
  const restart =
    (file: string) =>
    (now: { mtimeMs: number }, before: { mtimeMs: number }): void => {
      if (now.mtimeMs === before.mtimeMs || stopped) return
      changed = true
      remark(`${file} changed; the server starts again`)
      child.kill('SIGTERM')
    }
  for (const file of files) watchFile(file, { interval: every }, restart(file))
  const stop = (signal: NodeJS.Signals): void => {
    stopped = true
    child.kill(signal)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  try {
    for (;;) {
      changed = false
      child = start()
      const [code] = (await once(child, 'exit')) as [number | null]
      // A server that does not start waits for the edit that repairs its configuration.
      if (stopped) return code ?? 0
      if (changed) continue
      remark('the server ended; it starts again when a configuration or a .env file changes')
      await editedOf(files)
    }
  } finally {
    for (const file of files) unwatchFile(file)
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

/** Resolves when one of the files has changed, or at a signal. */
function editedOf(files: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const look = (now: { mtimeMs: number }, before: { mtimeMs: number }): void => {
      if (now.mtimeMs !== before.mtimeMs) done()
    }
    const done = (): void => {
      for (const file of files) unwatchFile(file, look)
      process.off('SIGINT', end)
      process.off('SIGTERM', end)
      resolve()
    }
    const end = (): void => process.exit(0)
    for (const file of files) watchFile(file, { interval: every }, look)
    process.on('SIGINT', end)
    process.on('SIGTERM', end)
  })
}
