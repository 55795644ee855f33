// Installs what is missing: for `npm start` what building and serving need (`dependencies`), for all other commands the
// tools of tests and gates too (`devDependencies`). A fresh clone has nothing; an installed tree pays one hash of the lock file.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../', import.meta.url))
const stamp = `${root}node_modules/.millrace-installed`

// Not `npm ci`: it refuses a lock file without every other platform's optional binaries, and the registry that this lock
// was made from does not hold them all.
const install = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']

/** With NODE_ENV=production, npm leaves out `devDependencies` unless a flag includes them. */
const flagsOf = { serving: [...install, '--omit=dev'], all: [...install, '--include=dev'] }

/** @param {'serving' | 'all'} scope */
export function ensureInstalled(scope = 'all') {
  const missing = begin(scope)
  if (missing === undefined) return
  run('npm', flagsOf[missing.scope])
  writeFileSync(stamp, missing.stamp)
}

/** Installs everything without blocking, so that other folders can be installed at the same time. */
export async function installBeside() {
  const missing = begin('all')
  if (missing === undefined) return
  await runBeside('npm', flagsOf[missing.scope])
  writeFileSync(stamp, missing.stamp)
}

/**
 * What to install, and the stamp to write afterwards; undefined when the stamp is already that one. npm removes what an
 * install leaves out, so a tree that already has the tools installs everything.
 *
 * @param {{ scope: 'serving' | 'all', lock: string | Buffer, stamped: string, hasTools: boolean }} given
 * @returns {{ scope: 'serving' | 'all', stamp: string } | undefined}
 */
export function missingOf({ scope, lock, stamped, hasTools }) {
  const hash = createHash('sha256').update(lock).digest('hex')
  if (stamped === `all ${hash}` || stamped === `${scope} ${hash}`) return undefined
  const widest = hasTools ? 'all' : scope
  return { scope: widest, stamp: `${widest} ${hash}` }
}

/** Removes the stamp first, so that an interrupted install is started again. */
function begin(scope) {
  const missing = missingOf({
    scope,
    lock: readFileSync(`${root}package-lock.json`),
    stamped: existsSync(stamp) ? readFileSync(stamp, 'utf8') : '',
    hasTools: existsSync(`${root}node_modules/vitest`),
  })
  if (missing === undefined) return undefined
  const fresh = !existsSync(`${root}node_modules`)
  console.log(fresh ? 'Installing packages (first time, about a minute) …' : 'Installing packages …')
  rmSync(stamp, { force: true })
  return missing
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

/** The same without blocking this process, and not longer than it. */
export async function runBeside(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  const end = () => child.kill()
  process.once('exit', end)
  const [status] = await once(child, 'exit')
  process.off('exit', end)
  if (status !== 0) process.exit(status ?? 1)
}

/** A package's own command, from node_modules. */
export const bin = (name) => `${root}node_modules/.bin/${name}`
