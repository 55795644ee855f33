import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { missingOf } from '../scripts/install.mjs'
import { staticImports } from './kit/static-imports.ts'

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url))
const json = (name: string) => JSON.parse(readFileSync(path(name), 'utf8'))

describe('what an install takes', () => {
  const tree = { scope: 'serving', lock: 'a lock file', stamped: '', hasTools: false } as const
  const stampOf = (given: Parameters<typeof missingOf>[0]) => missingOf(given)?.stamp ?? ''

  test('a fresh clone: the start takes what serving needs, a test takes everything', () => {
    expect(missingOf(tree)).toMatchObject({ scope: 'serving' })
    expect(missingOf({ ...tree, scope: 'all' })).toMatchObject({ scope: 'all' })
  })

  test('in either order nothing is installed twice, and nothing is taken away', () => {
    const started = { ...tree, stamped: stampOf(tree) }
    expect(missingOf(started)).toBeUndefined()
    expect(missingOf({ ...started, scope: 'all' })).toMatchObject({ scope: 'all' })
    const tested = { ...tree, hasTools: true, stamped: stampOf({ ...tree, scope: 'all' }) }
    expect(missingOf(tested)).toBeUndefined()
    expect(missingOf({ ...tested, scope: 'all' })).toBeUndefined()
  })

  test.each([
    ['another lock file', stampOf({ ...tree, scope: 'all', lock: 'the one before' })],
    ['an install that was interrupted, or made by hand', ''],
  ])('%s: everything again where the tools are there, because npm would remove them', (_name, stamped) => {
    expect(missingOf({ ...tree, stamped, hasTools: true })).toMatchObject({ scope: 'all' })
    expect(missingOf({ ...tree, stamped })).toMatchObject({ scope: 'serving' })
  })
})

test('what `npm start` loads before it serves is installed without the tools of tests', () => {
  // The build loads `emit.mjs` and Vite when something is stale.
  const entries = ['scripts/start.mjs', 'scripts/emit.mjs', 'packages/studio/vite.config.ts'].map(path)
  const names = entries
    .flatMap((file) => staticImports(file))
    .map(({ target }) => target)
    .filter((target) => !target.startsWith('.') && !target.startsWith('node:'))
  expect(new Set(names)).toEqual(new Set(Object.keys(json('package.json').dependencies)))
  const { packages } = json('package-lock.json') as { packages: Record<string, { dev?: boolean }> }
  for (const name of names) expect(packages[`node_modules/${name}`]).not.toHaveProperty('dev')
})
