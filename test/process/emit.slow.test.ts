import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer, type Plugin, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emitted, outputs, sourcesIn } from '../../scripts/emit.mjs'
import { root } from '../../scripts/install.mjs'
import { packedFolder, published } from '../../scripts/pack.mjs'
import config from '../../vitest.config.ts'

/**
 * One stripper makes what ships and what tests of sources run. Here both are shown to be the same code: each file of the
 * packed packages is the stripper's output, byte for byte, and Vite makes the same of it as of the source under vitest.
 */
let vite: ViteDevServer
beforeAll(async () => {
  const { oxc, plugins, resolve } = projectNamed('unit')
  vite = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
    oxc,
    plugins,
    resolve,
  })
})
afterAll(() => vite.close())

interface Project {
  readonly oxc: false
  readonly plugins: Plugin[]
  readonly resolve: { readonly conditions: string[] }
  readonly test: { readonly name: string }
}

/** A project of vitest.config.ts, as vitest reads it. */
function projectNamed(name: string): Project {
  const projects = (config as { readonly test: { readonly projects: readonly Project[] } }).test.projects
  const found = projects.find((project) => project.test.name === name)
  if (found === undefined) throw new Error(`vitest.config.ts has no project ${name}`)
  return found
}

/** `packages/core/dist/x.js` → where the package that ships has it. */
function packed(path: string): string {
  const [, folder = '', inside = ''] = /^packages\/([a-z]+)\/(.+)$/.exec(path) ?? []
  return join(packedFolder, 'node_modules', published[folder as keyof typeof published], inside)
}

test.each(emitted)('what ships of $from is what the stripper makes of it, and nothing else', async ({ from, to }) => {
  const files = new Map<string, string>()
  for (const name of sourcesIn(root + from))
    for (const [path, text] of await outputs(from, to, name)) files.set(path, text)
  const shipped = readdirSync(packed(to), { recursive: true, encoding: 'utf8', withFileTypes: false })
    .filter((name) => /\.(js|map|md)$|\.case\.json$/.test(name))
    .map((name) => join(to, name))
  expect(shipped.toSorted()).toEqual([...files.keys()].toSorted())
  expect(shipped.filter((path) => readFileSync(packed(path), 'utf8') !== files.get(path))).toEqual([])
  expect(files.size).toBeGreaterThan(3)
})

test.each(emitted)('what vitest runs of $from is the code that ships', async ({ from, to }) => {
  const different: object[] = []
  let compared = 0
  for (const name of sourcesIn(root + from).filter((each) => /\.tsx?$/.test(each))) {
    const source = join(root, from, name)
    const path = join(to, name.replace(/\.tsx?$/, '.js'))
    const run = await vite.environments.ssr.transformRequest(source)
    const code = readFileSync(packed(path), 'utf8').replace(/\/\/# sourceMappingURL=.*\n$/, '')
    const ships = await vite.ssrTransform(code, null, source)
    compared++
    if (essence(run?.code) !== essence(ships?.code)) different.push({ name, run: run?.code, ships: ships?.code })
  }
  expect(different).toEqual([])
  expect(compared).toBeGreaterThan(3)
})

/** Vite resolves the imports of what it runs, so that only their names differ; comments of Vite are left out. */
function essence(code = ''): string {
  return code
    .replace(/__vite_ssr_(import|dynamic_import|exportAll)__\((["'])[^"']*\2/g, '__vite_ssr_$1__("…"')
    .replace(/\/\/# source.*$/gm, '')
    .trim()
}
