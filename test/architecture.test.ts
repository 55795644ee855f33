import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { filesIn, sourcesIn } from './kit/source-files.ts'

/**
 * The import table of ARCHITECTURE.md, two folders deep: which folder may import which. Everything that is not listed is
 * forbidden, and a folder that is not listed is an error. `x/*` means each folder inside x. A file with a row of its own
 * counts as a folder. A package's own index may export all of its package.
 */
const core = '@millrace/core'
const wire = ['core/dialect', 'core/dialect/bare-text', 'core/event', 'core/frame', 'core/json', 'core/schema']
const fold = ['core/view', 'core/event', 'core/json', 'core/persistent']
const engine = [core, 'server/agent', 'server/agent/model']
const surface = [
  core,
  'server/agent',
  'server/eval',
  'server/run',
  'server/stream',
  'server/telemetry',
  'server/thread',
  'server/view',
  'server/recording',
  'server/http',
]
const doors = ['server/http/doors', 'server/http/openapi', 'server/http/session']
const table: Readonly<Record<string, readonly string[]>> = {
  'core/json': [],
  'core/schema': ['core/json'],
  'core/event': ['core/json', 'core/schema'],
  'core/frame': [],
  'core/persistent': ['core/event'],
  // The registry names every dialect; a dialect never imports a sibling.
  'core/dialect': ['core/event', 'core/frame', 'core/json', 'core/dialect/*'],
  'core/recording': ['core/event', 'core/frame', 'core/json', 'core/dialect', 'core/log'],
  'core/dialect/bare-text': ['core/dialect', 'core/event', 'core/frame', 'core/json'],
  'core/dialect/*': wire,
  'core/log': ['core/event', 'core/json', 'core/persistent'],
  // The registry names every view; the views that build on another view are listed one by one.
  'core/view': ['core/event', 'core/persistent', 'core/view/*'],
  'core/view/flow': [...fold, 'core/view/timeline'],
  'core/view/problems': [...fold, 'core/view/proof'],
  'core/view/*': fold,
  'core/report': ['core/event', 'core/view', 'core/view/*'],
  'core/client': ['core/event', 'core/frame', 'core/json', 'core/persistent', 'core/dialect', 'core/log', 'core/view'],
  'core/adk-chat': ['core/event', 'core/json'],
  'core/testing': [
    core,
    'core/event',
    'core/json',
    'core/frame',
    'core/log',
    'core/dialect',
    'core/view',
    'core/testing/*',
  ],
  'core/testing/*': [
    core,
    'core/testing',
    'core/event',
    'core/json',
    'core/frame',
    'core/log',
    'core/dialect',
    'core/view',
  ],
  // Only the registry names the engines; an engine imports neither the registry nor a sibling.
  'server/agent/engines.ts': [core, 'server/agent', 'server/agent/*'],
  'server/agent': [core, 'server/agent/model', 'server/agent/engines.ts', 'server/agent/isolate'],
  'server/agent/model': [core, 'server/agent'],
  'server/agent/*': engine,
  'server/run': [core, 'server/agent', 'server/telemetry'],
  'server/eval': [core, 'server/agent', 'server/agent/model', 'server/run'],
  'server/stream': [core, 'server/thread'],
  'server/store': [core],
  'server/store/*': [core, 'server/store', 'server/thread'],
  'server/telemetry': [core],
  'server/thread': [core],
  'server/view': [core, 'server/thread'],
  'server/recording': [core, 'server/thread', 'server/view'],
  // The app registers every surface; a surface never imports a sibling, except what reads and removes sessions.
  'server/http': [...surface, 'server/http/*'],
  'server/http/doors': surface,
  'server/http/session': [...surface, ...doors, 'server/agent/engines.ts'],
  'server/http/*': [...surface, ...doors],
  react: [core],
  studio: [core, '@millrace/react'],
  cli: [core, '@millrace/server'],
}

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const files = sourcesIn(packages)

describe('architecture', () => {
  test('it looks at files', () => expect(files.length).toBeGreaterThan(300))

  test.each(files.map((file) => relative(packages, file)))('%s keeps to the import table', (file) => {
    const folder = folderOf(resolve(packages, file))
    if (folder === 'core' || folder === 'server') return // the public names of a package
    const allowed = table[folder] ?? table[`${dirname(folder)}/*`]
    expect(allowed, `${folder} is not in the table`).toBeDefined()
    for (const target of importsOf(resolve(packages, file))) {
      if (target === folder) continue
      const family = `${dirname(target)}/*`
      expect(
        [target, family].some((name) => allowed?.includes(name)),
        `${file} imports ${target}`,
      ).toBe(true)
    }
  })

  test('every row of the table is about a folder or a file that exists', () => {
    const folders = new Set(files.map(folderOf))
    const rows = Object.keys(table).filter((row) => !row.endsWith('/*'))
    expect(rows.filter((row) => !folders.has(row))).toEqual([])
  })

  test('every dialect and every view has the same files', () => {
    const missing = ['dialect', 'view'].flatMap((kind) => {
      const wanted =
        kind === 'dialect' ? ['index', 'decoder', 'encoder', 'wire', 'dialect.test'] : ['index', 'state', 'view.test']
      const folder = `${packages}core/src/${kind}/`
      const members = readdirSync(folder).filter(
        (name) => statSync(folder + name).isDirectory() && name !== 'bare-text',
      )
      return members
        .flatMap((name) => wanted.map((file) => `${kind}/${name}/${file}.ts`))
        .filter((file) => {
          return !readdirSync(dirname(`${packages}core/src/${file}`)).includes(file.split('/').at(-1) ?? '')
        })
    })
    expect(missing).toEqual([])
  })

  test('every surface has its routes.ts', () => {
    const http = `${packages}server/src/http/`
    const surfaces = readdirSync(http).filter((name) => statSync(http + name).isDirectory())
    const without = surfaces.filter((name) => !readdirSync(http + name).includes('routes.ts'))
    expect(without).toEqual(['doors', 'openapi'])
  })

  test('no source file is longer than 400 lines', () => {
    const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 400)
    expect(long.map((file) => relative(packages, file))).toEqual([])
  })

  test('a URL becomes a path by fileURLToPath: its pathname has %20 where a folder has a space', () => {
    const root = resolve(packages, '..')
    const code = ['packages', 'agents', 'bench', 'examples', 'scripts', 'test']
      .flatMap((folder) => filesIn(resolve(root, folder)))
      .filter((file) => /\.(tsx?|mjs)$/.test(file))
    expect(code.length).toBeGreaterThan(files.length)
    const wrong = code.filter((file) => /import\.meta\.url\)\s*\.pathname/.test(readFileSync(file, 'utf8')))
    expect(wrong.map((file) => relative(root, file))).toEqual([])
  })
})

/** `core/dialect/ag-ui`, `server/run`; `react` for a package without folders in the table; the file if it has a row. */
function folderOf(file: string): string {
  const [name = '', , ...path] = relative(packages, file).split('/')
  if (name !== 'core' && name !== 'server') return name
  const own = [name, ...path].join('/')
  if (Object.hasOwn(table, own)) return own
  return [name, ...path.slice(0, -1).slice(0, 2)].join('/')
}

/** The folders and Millrace packages a file imports, types included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap(([, target = '']) => {
    if (target.startsWith('.')) return folderOf(resolve(dirname(file), target))
    return /^(@millrace\/[a-z]+|millrace)/.exec(target)?.[1] ?? []
  })
}
