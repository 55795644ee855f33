import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type InlineConfig } from 'vite'
import { packedImports } from '../../../scripts/packed-imports.mjs'

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

/** The scenes as a page in a folder of its own; StrictMode rehearses only where React is built for development. */
export async function buildPage(version: ReactVersion, mode: 'development' | 'production'): Promise<string> {
  const outDir = `${root}.cache/react-page/${version}-${mode}`
  await build({
    ...withReact(version, mode),
    build: {
      outDir,
      emptyOutDir: true,
      minify: mode === 'production',
      rolldownOptions: {
        input: { page: `${root}test/browser/react/page.tsx` },
        output: { entryFileNames: 'assets/[name].js' },
      },
    },
  })
  mkdirSync(outDir, { recursive: true })
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Scene</title><link rel="icon" href="data:,"></head><body><div id="root"></div><script type="module" src="./assets/page.js"></script></body></html>'
  writeFileSync(`${outDir}/index.html`, html)
  return outDir
}
