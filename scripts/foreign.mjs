// Installs the clients of others that tests drive: each folder of test/foreign has a lock file of its own, so that
// `npm start` installs none of them. An installed folder costs one hash of its lock file. A folder with `millrace.full`
// in its package.json is large, and installed for `npm run test:full` only.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { root, runBeside } from './install.mjs'

/** How many are installed at once: each of them waits for the network most of the time. */
const atOnce = 3

export async function ensureForeign() {
  const folders = readdirSync(`${root}test/foreign`).values()
  const installer = async () => {
    for (const name of folders) await ensureFolder(`${root}test/foreign/${name}`, name)
  }
  await Promise.all(Array.from({ length: atOnce }, installer))
}

async function ensureFolder(folder, name) {
  if (!existsSync(`${folder}/package-lock.json`)) return
  const { millrace } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  if (millrace?.full === true && process.env.MILLRACE_FULL !== '1') return
  const wanted = createHash('sha256')
    .update(readFileSync(`${folder}/package-lock.json`))
    .digest('hex')
  const stamp = `${folder}/node_modules/.millrace-installed`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log(`Installing ${name} for the tests …`)
  // `--prefix` names the folder; scripts of foreign packages have no reason to run here.
  const quiet = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await runBeside('npm', ['install', '--prefix', folder, ...quiet])
  writeFileSync(stamp, wanted)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await ensureForeign()
