// Lets a test that imports our packages, or a file of their sources, have the file that ships instead.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { root } from './install.mjs'
import { packedFolder, published } from './pack.mjs'

const ours = /^(@millrace\/(core|server|react)|millrace)(\/|$)/
const source = /^(?:packages\/([a-z]+)\/src|(agents))\/(.+)\.tsx?$/

/**
 * A Vite plugin. Tests themselves, and what only they import, stay where they are.
 *
 * @returns {import('vite').Plugin}
 */
export function packedImports() {
  const { resolve: find } = createRequire(`${packedFolder}/package.json`)
  return {
    name: 'millrace:packed',
    enforce: 'pre',
    resolveId(name, importer) {
      if (ours.test(name)) return find(name)
      if (!name.startsWith('.') || importer === undefined) return undefined
      return shippedFile(resolve(dirname(importer.split('?')[0]), name))
    },
  }
}

/** `packages/server/src/run/engine.ts` → the file in the package that ships; undefined for any other file. */
export function shippedFile(file) {
  if (!file.startsWith(root)) return undefined
  const [, folder, agents, path = ''] = source.exec(file.slice(root.length)) ?? []
  if (path === '' || path.endsWith('.test') || (agents === undefined && !(folder in published))) return undefined
  const home = agents === undefined ? `${published[folder]}/dist` : 'millrace/agents'
  const target = `${packedFolder}/node_modules/${home}/${path}.js`
  if (!existsSync(target))
    throw new Error(`${file} is imported by a test, but its package has no ${path}.js: run npm run build`)
  return target
}
