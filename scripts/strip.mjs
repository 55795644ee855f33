// TypeScript → JavaScript, once for all: what the build writes and what vitest runs on sources both come from here.
// Our syntax is erasable, so this takes types away and changes nothing else (JSX becomes calls). `tsc` checks types and
// writes declarations; it writes no JavaScript, because TypeScript 7.0 prints `new (load() as T).X()` as `new load().X()`.
import { transformWithOxc } from 'vite'

const options = {
  target: 'es2023',
  // Everything that decides the result is in this file; the nearest tsconfig decides nothing.
  tsconfig: false,
  jsx: { runtime: 'automatic', development: false },
}

/** A relative import of a TypeScript file. The stripper rewrites statements; `import('./x.ts')` is left to us. */
const dynamicImport = /\bimport\((["'])(\.{1,2}\/[^"']+)\.tsx?\1\)/g

/**
 * The JavaScript of a source file, with imports that name files as they are shipped: `./x.js`.
 *
 * @returns {Promise<{ code: string, map: { version: number, names: string[], mappings: string } }>}
 */
export async function shipped(code, file) {
  const { code: stripped, map } = await strip(code, file, 'rewrite')
  return { code: stripped.replace(dynamicImport, 'import($1$2.js$1)'), map }
}

/**
 * The same JavaScript, with imports that still name source files.
 *
 * @returns {Promise<import('vite').Rolldown.TransformResult & { map: any }>}
 */
export function strip(code, file, rewriteImportExtensions = false) {
  const typescript = { onlyRemoveTypeImports: true, rewriteImportExtensions }
  return transformWithOxc(code, file, { ...options, typescript, sourcemap: true })
}

/**
 * Lets Vite run sources through `strip` instead of its own step. Use it together with `oxc: false`.
 *
 * @returns {import('vite').Plugin}
 */
export function strippedSources() {
  return {
    name: 'millrace:strip',
    enforce: 'pre',
    async transform(code, id) {
      const [file] = id.split('?')
      if (!/\.m?tsx?$/.test(file)) return undefined
      const { code: stripped, map } = await strip(code, file)
      return { code: stripped, map }
    },
  }
}
