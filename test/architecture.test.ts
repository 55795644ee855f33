import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/**
 * The import table of ARCHITECTURE.md: which folder may import which. Anything not listed is forbidden, a folder that
 * is not listed is an error, and a package's index may re-export all of its own package.
 */
const table: Readonly<Record<string, readonly string[]>> = {
  'core/event': [],
  'core/frame': [],
  'core/dialect': ['core/event', 'core/frame'],
  'core/log': ['core/event'],
  'core/view': ['core/event'],
  'core/client': ['core/event', 'core/frame', 'core/dialect', 'core/log', 'core/view'],
  'server/store': ['@millrace/core'],
  'server/agent': ['@millrace/core'],
  'server/engine': ['@millrace/core', 'server/agent'],
  'server/http': ['@millrace/core', 'server/agent', 'server/engine'],
  react: ['@millrace/core'],
  studio: ['@millrace/core', '@millrace/react'],
  cli: ['@millrace/core', '@millrace/server'],
}

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const files = walk(packages).filter((file) => /\/src\/.*\.tsx?$/.test(file) && !/\.(test|contract)\.tsx?$/.test(file))

describe('architecture', () => {
  test('it looks at files', () => expect(files.length).toBeGreaterThan(20))

  test.each(files.map((file) => relative(packages, file)))('%s keeps to the import table', (file) => {
    const folder = folderOf(resolve(packages, file))
    if (folder === undefined) return // a package's own index.ts
    const allowed = table[folder]
    expect(allowed, `${folder} is not in the table`).toBeDefined()
    for (const target of importsOf(resolve(packages, file))) {
      if (target !== folder) expect(allowed, `${file} imports ${target}`).toContain(target)
    }
  })

  test('no source file is longer than 400 lines', () => {
    const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 400)
    expect(long.map((file) => relative(packages, file))).toEqual([])
  })

  test('a URL becomes a path by fileURLToPath: its pathname has %20 where a folder has a space', () => {
    const root = resolve(packages, '..')
    const code = ['packages', 'agents', 'bench', 'examples', 'scripts', 'test']
      .flatMap((folder) => walk(resolve(root, folder)))
      .filter((file) => /\.(tsx?|mjs)$/.test(file))
    expect(code.length).toBeGreaterThan(files.length)
    const wrong = code.filter((file) => /import\.meta\.url\)\s*\.pathname/.test(readFileSync(file, 'utf8')))
    expect(wrong.map((file) => relative(root, file))).toEqual([])
  })
})

/** `core/event`, or `react` for a package without folders in the table; undefined for a package's index. */
function folderOf(file: string): string | undefined {
  const [name = '', , first = ''] = relative(packages, file).split('/')
  if (name === 'core' || name === 'server') return first.endsWith('.ts') ? undefined : `${name}/${first}`
  return name
}

/** The folders and Millrace packages a file imports, types included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap(([, target = '']) => {
    if (target.startsWith('.')) return folderOf(resolve(dirname(file), target)) ?? []
    return /^(@millrace\/[a-z]+|millrace)/.exec(target)?.[1] ?? []
  })
}

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    if (name === 'node_modules' || name === 'dist') return []
    const path = `${folder}${folder.endsWith('/') ? '' : '/'}${name}`
    return statSync(path).isDirectory() ? walk(path) : [path]
  })
}
