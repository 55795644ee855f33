import { readdir, readFile } from 'node:fs/promises'
import { dirname, extname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject, MillraceError } from '@millrace/core'
import { messageOf } from './adk/problem.ts'

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
    exported = await loadModule(file, await sharedModules(dirname(file)))
  } catch (error) {
    throw new MillraceError('agent-error', placed(file, error), { file }, error)
  }
  return readAgentFile(file, exported)
}

/** TypeScript through jiti (Node 20 does not strip types), everything else by Node itself. */
export async function loadModule(file: string, virtualModules: Record<string, unknown> = {}): Promise<unknown> {
  if (!/^\.[cm]?ts$/.test(extname(file))) return import(pathToFileURL(file).href)
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, { interopDefault: false, virtualModules }).import(file)
}

/**
 * An agent's @google/adk must be the server's: its classes are compared, and our engine silences its logger before the
 * agent's file can make it speak. Handed over only to agents that use it, because it takes two seconds to load. It also
 * lets a folder without node_modules work.
 */
async function sharedModules(folder: string): Promise<Record<string, unknown>> {
  if (!(await mentionsAdk(folder))) return {}
  await import('./adk/engine.ts')
  return { '@google/adk': await import('@google/adk'), '@millrace/server/adk': await import('../adk.ts') }
}

async function mentionsAdk(folder: string, depth = 3): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      const skipped = depth === 0 || entry.name === 'node_modules' || entry.name.startsWith('.')
      if (!skipped && (await mentionsAdk(path, depth - 1))) return true
    } else if (/\.[cm]?[jt]s$/.test(entry.name)) {
      if (/['"](@google\/adk|@millrace\/server\/adk)['"]/.test(await readFile(path, 'utf8'))) return true
    }
  }
  return false
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
