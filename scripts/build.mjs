// Builds what is stale: types and JavaScript by `tsc -b`, the page by Vite. Nothing stale costs one walk over file times.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { bin, ensureInstalled, root, run } from './install.mjs'

const stamp = `${root}.cache/built`
const inputs = ['packages', 'agents', 'tsconfig.json', 'tsconfig.base.json', 'package-lock.json']
const skipped = new Set(['node_modules', 'dist', 'page', '.vite'])
const outputs = [
  'packages/core/dist/index.js',
  'packages/server/dist/index.js',
  'packages/cli/dist/main.js',
  'packages/cli/page/index.html',
]

export function ensureBuilt() {
  const wanted = inputs.map(fingerprint).join('\n')
  const built = outputs.every((file) => existsSync(root + file))
  if (built && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log('Building …')
  run(bin('tsc'), ['-b'])
  run(bin('vite'), ['build', '--logLevel', 'warn', 'packages/studio'])
  mkdirSync(`${root}.cache`, { recursive: true })
  writeFileSync(stamp, wanted)
}

function fingerprint(path) {
  const info = statSync(root + path)
  if (!info.isDirectory()) return `${path} ${info.size} ${info.mtimeMs}`
  return readdirSync(root + path)
    .filter((name) => !skipped.has(name) && !name.endsWith('.tsbuildinfo') && !name.includes('.test.'))
    .map((name) => fingerprint(`${path}/${name}`))
    .join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensureInstalled()
  ensureBuilt()
}
