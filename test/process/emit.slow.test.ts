import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformWithOxc } from 'vite'
import { beforeAll, expect, test } from 'vitest'
import { built } from '../kit/built-server.ts'

/**
 * Tests run on sources, people run what tsc emitted. TypeScript 7.0 can emit something else than the source says: it
 * prints `new (load() as T).X()` as `new load().X()`. So a second compiler reads every source, and one printer prints both.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = [
  ['packages/core/src', 'packages/core/dist'],
  ['packages/server/src', 'packages/server/dist'],
  ['packages/react/src', 'packages/react/dist'],
  ['packages/cli/src', 'packages/cli/dist'],
  ['agents', 'agents/dist'],
] as const

beforeAll(built)

const compile = async (code: string, name: string): Promise<string> => {
  const typescript = { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' } as const
  const jsx = { runtime: 'automatic', development: false } as const
  return (await transformWithOxc(code, name, { sourcemap: false, target: 'es2023', typescript, jsx })).code
}

/** Code without what the two compilers may say differently: comments, white space, and what each adds of its own. */
async function essence(code: string): Promise<string> {
  return (await compile(code, 'emitted.js'))
    .replace(/^\s*\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\/\* @__PURE__ \*\//gm, '')
    .replace(/^import \{[^}]*\} from "react\/jsx-runtime";$/gm, '')
    .replace(/^var __rewriteRelativeImportExtension = [\s\S]*?^\};$/gm, '')
    .replace(/__rewriteRelativeImportExtension\(([^()]*|[^()]*\([^()]*\)[^()]*)\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}

test.each(folders)('what is built from %s says what its source says', async (from, to) => {
  const names = readdirSync(join(root, to), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => name.slice(0, -'.js'.length))
  const different: object[] = []
  let compared = 0
  for (const name of names) {
    const source = ['.ts', '.tsx'].map((end) => join(root, from, name + end)).find(existsSync)
    if (source === undefined) continue // left by a source that is gone
    const said = await essence(await compile(readFileSync(source, 'utf8'), source))
    const emitted = await essence(readFileSync(join(root, to, `${name}.js`), 'utf8'))
    compared++
    if (said !== emitted) different.push({ name, said, emitted })
  }
  expect(different).toEqual([])
  expect(compared).toBeGreaterThan(3)
})
