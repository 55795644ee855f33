// Builds what is stale: JavaScript by one stripper, declarations by `tsc -b`, the page by Vite, all at the same time.
// Nothing stale costs one walk over file times.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { bin, ensureInstalled, root, runBeside } from './install.mjs'

const skipped = new Set(['node_modules', 'dist', 'page', '.vite'])
const everywhere = ['package-lock.json', 'tsconfig.base.json']
const shippedSources = ['core', 'server', 'react', 'cli'].map((name) => `packages/${name}/src`)
const typed = ['core', 'server', 'react', 'cli', 'studio'].flatMap((name) => [
  `packages/${name}/src`,
  `packages/${name}/tsconfig.json`,
])

/** What is built: its inputs, some of its outputs, and how. Serving needs only the parts with `serves`. */
const parts = [
  {
    name: 'javascript',
    serves: true,
    inputs: [...everywhere, ...shippedSources, 'agents', 'scripts/strip.mjs', 'scripts/emit.mjs'],
    outputs: [
      'packages/core/dist/index.js',
      'packages/server/dist/index.js',
      'packages/react/dist/index.js',
      'packages/cli/dist/main.js',
      'packages/cli/agents/assistant/agent.js',
    ],
    make: async () => (await import('./emit.mjs')).emit(),
  },
  {
    name: 'declarations',
    serves: false,
    inputs: [...everywhere, 'tsconfig.json', ...typed, 'agents'],
    outputs: ['packages/core/dist/index.d.ts', 'packages/server/dist/index.d.ts', 'packages/react/dist/index.d.ts'],
    make: () => runBeside(bin('tsc'), ['-b']),
  },
  {
    name: 'page',
    serves: true,
    inputs: [...everywhere, 'packages/core/src', 'packages/react/src', 'packages/studio'],
    outputs: ['packages/cli/page/index.html'],
    make: () => runBeside(bin('vite'), ['build', '--logLevel', 'warn', 'packages/studio']),
  },
]

/** @param {'serving' | 'all'} scope */
export async function ensureBuilt(scope = 'all') {
  const asked = parts.filter(({ serves }) => serves || scope === 'all')
  const stale = asked.map((part) => ({ ...part, wanted: part.inputs.map(fingerprint).join('\n') })).filter(isStale)
  if (stale.length === 0) return
  console.log('Building …')
  mkdirSync(`${root}.cache`, { recursive: true })
  await Promise.all(
    stale.map(async ({ name, wanted, make }) => {
      await make()
      writeFileSync(stampOf(name), wanted)
    }),
  )
}

const stampOf = (name) => `${root}.cache/built-${name}`

function isStale({ name, outputs, wanted }) {
  if (!outputs.every((file) => existsSync(root + file))) return true
  return !existsSync(stampOf(name)) || readFileSync(stampOf(name), 'utf8') !== wanted
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
  await ensureBuilt()
}
