import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type InlineConfig } from 'vite'
import { packedFolder } from '../../../scripts/pack.mjs'
import { packedImports } from '../../../scripts/packed-imports.mjs'
import { finished } from '../../kit/finished-folder.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const eighteen = `${root}test/react-18/node_modules`

export const reactVersions = [18, 19] as const
export type ReactVersion = (typeof reactVersions)[number]

/** Our packages as they ship, with one React or the other for all of them. */
export function withReact(version: ReactVersion, mode: 'development' | 'production'): InlineConfig {
  const alias = version === 18 ? { react: `${eighteen}/react`, 'react-dom': `${eighteen}/react-dom` } : {}
  return {
    root,
    mode,
    configFile: false,
    logLevel: 'error',
    plugins: [packedImports()],
    // By itself it goes by the environment of the test.
    oxc: { jsx: { runtime: 'automatic', development: mode === 'development' } },
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    resolve: { alias, conditions: ['module', 'browser', mode, 'default'] },
  }
}

/**
 * The scenes as a page in a folder of its own; StrictMode rehearses only where React is built for development. It is
 * built once for all tests, also those that run at the same time: the folder gets its name when it is whole.
 */
export async function buildPage(version: ReactVersion, mode: 'development' | 'production'): Promise<string> {
  const pages = `${root}.cache/react-page`
  const outDir = `${pages}/${version}-${mode}-${madeOf()}`
  if (existsSync(outDir)) return outDir
  const building = `${pages}/${version}-${mode}.${process.pid}`
  await build({
    ...withReact(version, mode),
    build: {
      outDir: building,
      emptyOutDir: true,
      minify: mode === 'production',
      rolldownOptions: {
        input: { page: `${root}test/browser/react/page.tsx` },
        output: { entryFileNames: 'assets/[name].js' },
      },
    },
  })
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Scene</title><link rel="icon" href="data:,"></head><body><div id="root"></div><script type="module" src="./assets/page.js"></script></body></html>'
  writeFileSync(`${building}/index.html`, html)
  for (const old of readdirSync(pages))
    if (old.startsWith(`${version}-${mode}-`) && !outDir.endsWith(old)) rmSync(`${pages}/${old}`, { recursive: true })
  finished(building, outDir)
  return outDir
}

/** What the page is made of: the packages as they were packed, and the scenes. */
function madeOf(): string {
  const folder = fileURLToPath(new URL('./', import.meta.url))
  const scenes = readdirSync(folder).map((name) => readFileSync(join(folder, name)))
  const hash = createHash('sha256').update(readFileSync(`${packedFolder}/stamp`))
  for (const scene of scenes) hash.update(scene)
  return hash.digest('hex').slice(0, 16)
}
