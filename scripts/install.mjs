// Installs what is missing. A fresh clone has nothing; an installed tree pays one hash of the lock file.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../', import.meta.url))
const stamp = `${root}node_modules/.millrace-installed`

// Not `npm ci`: it refuses a lock file without every other platform's optional binaries, and the registry that this lock
// was made from does not hold them all.
const install = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']

export function ensureInstalled() {
  const wanted = missing()
  if (wanted === undefined) return
  run('npm', install)
  writeFileSync(stamp, wanted)
}

/** The same without waiting in line: the installs of other folders go on beside it. */
export async function installBeside() {
  const wanted = missing()
  if (wanted === undefined) return
  await runBeside('npm', install)
  writeFileSync(stamp, wanted)
}

/** What the stamp has to say once everything is installed; undefined when it says so already. */
function missing() {
  const wanted = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return undefined
  const fresh = !existsSync(`${root}node_modules`)
  console.log(fresh ? 'Installing packages (first time, about a minute) …' : 'Installing packages …')
  return wanted
}

/** Runs a command in the root with our own stdio; a failure ends this process with its code. */
export function run(command, args) {
  const shell = process.platform === 'win32'
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell })
  if (error !== undefined) {
    console.error(`cannot run ${command}: ${error.message}`)
    process.exit(1)
  }
  if (status !== 0) process.exit(status ?? 1)
}

/** The same without waiting in line: other work goes on beside it. */
export async function runBeside(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  const [status] = await once(child, 'exit')
  if (status !== 0) process.exit(status ?? 1)
}

/** A package's own command, from node_modules. */
export const bin = (name) => `${root}node_modules/.bin/${name}`
