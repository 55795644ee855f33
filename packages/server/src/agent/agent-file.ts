import { dirname, extname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject, MillraceError } from '@millrace/core'
import type { FileEngine, LoadedAgentFile } from './agent-engine.ts'
import { fileEngines } from './engines.ts'
import { messageOf } from './problem.ts'
import { sharedModules } from './shared-modules.ts'

/** What an agent's file exports, checked, and the engine that runs it. */
export interface AgentFile extends LoadedAgentFile {
  readonly engine: FileEngine
  /** The name for people; exported as `title` or `name`. */
  readonly title?: string
}

/** Loads an agent's file. An error names the file, the line where it is known, and the reason. */
export async function loadAgentFile(file: string): Promise<AgentFile> {
  let exported: unknown
  try {
    const { modules, needed } = await sharedModules(file)
    exported = await loadModule(file, modules, needed)
  } catch (error) {
    throw new MillraceError('agent-error', withPlace(file, error), { file }, error)
  }
  return readAgentFile(file, exported)
}

/**
 * Loads TypeScript through jiti, because Node 20 does not strip types, and everything else by Node itself. Node cannot
 * be handed modules; a file that needs one that its folder lacks is loaded by jiti too.
 */
export async function loadModule(
  file: string,
  virtualModules: Record<string, unknown> = {},
  needed = false,
): Promise<unknown> {
  if (!needed && !/^\.[cm]?ts$/.test(extname(file))) return import(pathToFileURL(file).href)
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, { interopDefault: false, virtualModules }).import(file)
}

function readAgentFile(file: string, loaded: unknown): AgentFile {
  const found = isObject(loaded) ? loaded : {}
  const exports = isObject(found.default) ? { ...found.default, ...found } : found
  const isExported = (name: string): boolean => exports[name] !== undefined
  const engine = fileEngines.find((one) => one.exports.some(isExported))
  if (engine === undefined) {
    const names = Object.keys(exports).filter((key) => key !== 'default')
    const has = names.length === 0 ? 'nothing' : names.join(', ')
    const wanted = fileEngines.map((one) => `${one.exports[0]} (${one.exported})`).join(' or ')
    throw new MillraceError('agent-error', `${file} exports ${has}. Export ${wanted}.`)
  }
  const { name, title = name, description, examples, resumable } = exports
  return {
    engine,
    exported: exports[engine.exports.find(isExported) ?? ''],
    exports,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(Array.isArray(examples) ? { examples: examples.filter((example) => typeof example === 'string') } : {}),
    ...(typeof resumable === 'boolean' ? { resumable } : {}),
  }
}

/** The message, with the line of the agent's folder that it came from: the message itself seldom has it. */
function withPlace(file: string, error: unknown): string {
  const folder = dirname(file)
  const message = (messageOf(error).split('\nRequire stack:')[0] ?? '').trim()
  if (message.includes(folder)) return message
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const at = stack.split('\n').find((line) => line.includes(folder))
  const place = at === undefined ? undefined : /([^\s(/]*[\\/][^()]*?):(\d+):\d+\)?$/.exec(at)
  const path = place?.[1]?.replace(/^file:\/\//, '')
  const where = path === undefined ? file : `${join(folder, relative(folder, path))}:${place?.[2]}`
  return `${where}: ${message}`
}
