import { dirname, extname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject, MillraceError } from '@millrace/core'
import { messageOf } from './problem.ts'
import { sharedModules } from './shared-modules.ts'

/** What an agent's file may export, checked. */
export interface AgentFile {
  /** The convention of `adk web`: an agent, a workflow or an App of @google/adk. */
  readonly rootAgent?: unknown
  /** A compiled LangGraph. */
  readonly graph?: unknown
  /** What people call it; exported as `title` or `name`. */
  readonly title?: string
  readonly description?: string
  readonly examples?: readonly string[]
  readonly resumable?: boolean
  readonly maxLlmCalls?: number
}

/** Loads an agent's file. What goes wrong is told with the file, the line where there is one, and the reason. */
export async function loadAgentFile(file: string): Promise<AgentFile> {
  let exported: unknown
  try {
    const { modules, needed } = await sharedModules(file)
    exported = await loadModule(file, modules, needed)
  } catch (error) {
    throw new MillraceError('agent-error', placed(file, error), { file }, error)
  }
  return readAgentFile(file, exported)
}

/**
 * TypeScript through jiti (Node 20 does not strip types), everything else by Node itself, which knows of no module that
 * is handed over: where it would need one, jiti again.
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

function readAgentFile(file: string, exported: unknown): AgentFile {
  const found = isObject(exported) ? exported : {}
  const module = isObject(found.default) ? { ...found.default, ...found } : found
  const { rootAgent, app, graph, name, title = name, description, examples, resumable, maxLlmCalls } = module
  if (rootAgent === undefined && app === undefined && graph === undefined) {
    const names = Object.keys(module).filter((key) => key !== 'default')
    const has = names.length === 0 ? 'nothing' : names.join(', ')
    throw new MillraceError(
      'agent-error',
      `${file} exports ${has}. Export rootAgent (an agent of @google/adk) or graph (a compiled LangGraph).`,
    )
  }
  const listed = Array.isArray(examples) ? examples.filter((example) => typeof example === 'string') : undefined
  return {
    ...((rootAgent ?? app) === undefined ? {} : { rootAgent: rootAgent ?? app }),
    ...(graph === undefined ? {} : { graph }),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(listed === undefined ? {} : { examples: listed }),
    ...(typeof resumable === 'boolean' ? { resumable } : {}),
    ...(typeof maxLlmCalls === 'number' ? { maxLlmCalls } : {}),
  }
}

/** The message, and the line of the agent's own folder it came from, which the message seldom has. */
function placed(file: string, error: unknown): string {
  const folder = dirname(file)
  const message = (messageOf(error).split('\nRequire stack:')[0] ?? '').trim()
  if (message.includes(folder)) return message
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const at = stack.split('\n').find((line) => line.includes(folder))
  const place = at === undefined ? undefined : /([^\s(/]*[\\/][^()]*?):(\d+):\d+\)?$/.exec(at)
  const where = place?.[1] === undefined ? file : `${join(folder, relative(folder, clean(place[1])))}:${place[2]}`
  return `${where}: ${message}`
}

function clean(path: string): string {
  return path.replace(/^file:\/\//, '')
}
