import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject } from '@millrace/core'
import { packageOf } from '../optional-package.ts'
import { sourcesOf } from '../sources.ts'

/** The classes of one copy of @langchain/core. Two copies have different classes, and so have the two builds of one copy. */
export interface LangChainCopy {
  readonly BaseChatModel: { readonly prototype: object }
  readonly SystemMessage: new (fields: object) => object
  readonly HumanMessage: new (fields: object) => object
  readonly ToolMessage: new (fields: object) => object
  readonly AIMessage: new (fields: object) => object
  readonly AIMessageChunk: new (fields: object) => object
  readonly ChatGenerationChunk: new (fields: object) => object
}

const core = '@langchain/core'
const modules = ['language_models/chat_models', 'messages', 'outputs'] as const

/**
 * The copies that the chat models of an agent's file can come from: the one beside the file, those of the packages that it
 * imports, and the server's own where the file has none.
 */
export async function langChainCopies(file: string): Promise<readonly LangChainCopy[]> {
  const { imports } = await sourcesOf(file)
  const beside = packageFolder(core, file)
  const packages = [...imports].map(([name, from]) => packageFolder(packageOf(name), from))
  const folders = packages.map((folder) => folder && packageFolder(core, join(folder, 'package.json')))
  const found = [...new Set([beside, ...folders])].filter((folder) => folder !== undefined)
  const copies = await Promise.all(found.map(copiesIn))
  return [...copies.flat(), ...(beside === undefined ? [await ownCopy()] : [])]
}

/** The folder of a package as a file sees it, with links followed as Node follows them. It is searched for by path, because `exports` may hide its package.json. */
function packageFolder(name: string, from: string): string | undefined {
  const folders = createRequire(from).resolve.paths(name) ?? []
  const found = folders.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, 'package.json')))
  return found === undefined ? undefined : realpathSync(found)
}

/** The build for `import`, and the one for `require` if something has loaded it already: loading it takes a while. */
async function copiesIn(folder: string): Promise<readonly LangChainCopy[]> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const exported = isObject(manifest) && isObject(manifest.exports) ? manifest.exports : {}
  const paths = (condition: 'import' | 'require'): readonly string[] =>
    modules.flatMap((name) => {
      const entry = exported[`./${name}`]
      const target: unknown = isObject(entry) ? entry[condition] : undefined
      const path: unknown = isObject(target) ? target.default : target
      return typeof path === 'string' ? [join(folder, path)] : []
    })
  const require = createRequire(join(folder, 'package.json'))
  const [first = ''] = paths('require')
  const loaded = [
    await Promise.all(paths('import').map((path): Promise<unknown> => import(pathToFileURL(path).href))),
    require.cache[first] === undefined ? [] : paths('require').map((path): unknown => require(path)),
  ]
  return loaded.flatMap((each) => {
    const copy: object = Object.assign({}, ...each)
    return isCopy(copy) ? [copy] : []
  })
}

async function ownCopy(): Promise<LangChainCopy> {
  const loaded = await Promise.all([
    import('@langchain/core/language_models/chat_models'),
    import('@langchain/core/messages'),
    import('@langchain/core/outputs'),
  ])
  return Object.assign({}, ...loaded) as LangChainCopy
}

const isCopy = (value: object): value is LangChainCopy =>
  ['BaseChatModel', 'AIMessage', 'AIMessageChunk', 'ChatGenerationChunk'].every((name) => name in value)
