import { readFile } from 'node:fs/promises'
import { dirname, extname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MillraceError } from '@millrace/core'
import { authorPlace, knowAuthorFolder, withoutPaths } from './author-place.ts'
import { type AgentFile, readExports } from './exported.ts'
import { messageOf } from './problem.ts'
import { sharedModules } from './shared-modules.ts'

/**
 * Loads an agent's file. An error names the file, the line where it is known, and the reason. `again` loads everything in
 * the author's folder anew: the modules of an earlier version stay with the runs that use them.
 */
export async function loadAgentFile(file: string, again = false): Promise<AgentFile> {
  const folder = dirname(dirname(file))
  knowAuthorFolder(folder)
  try {
    const { modules, needed } = await sharedModules(file)
    return await readExports(relative(folder, file), await loadModule(file, modules, needed || again))
  } catch (error) {
    if (error instanceof MillraceError) throw error
    throw new MillraceError('agent-error', withPlace(relative(folder, file), error), { file }, error)
  }
}

/**
 * Loads TypeScript through jiti, because Node 20 does not strip types, and everything else by Node itself. Node cannot
 * be handed modules, and cannot load a file twice; such a file (`byJiti`) is loaded by jiti too. Each call has a cache of
 * its own, so that a file beside the agent's is read again, and yet is one module for all that import it.
 */
export async function loadModule(
  file: string,
  virtualModules: Record<string, unknown> = {},
  byJiti = false,
): Promise<unknown> {
  const typed = /^\.[cm]?ts$/.test(extname(file))
  if (!byJiti && !typed) return import(pathToFileURL(file).href)
  const { createJiti } = await import('jiti')
  const jiti = createJiti(import.meta.url, { interopDefault: false, moduleCache: false, virtualModules })
  if (typed) return jiti.import(file)
  // Asked to import JavaScript, jiti would ask Node, which has the old version of it.
  const source = await readFile(file, 'utf8')
  return jiti.evalModule(source, { filename: file, async: true, forceTranspile: true })
}

/** The message, with the line of the author's code that it came from: the message itself seldom has it. */
function withPlace(file: string, error: unknown): string {
  const message = (withoutPaths(messageOf(error)).split('\nRequire stack:')[0] ?? '').trim()
  const [, reason, at] = unreadable.exec(message) ?? []
  if (reason !== undefined) return `${at}: ${reason.trim()}`
  if (message.includes(file)) return message
  return `${authorPlace(error) ?? file}: ${message}`
}

/** How jiti reports code that is no TypeScript: the reason, and on the next line the place. */
const unreadable = /^(?:Parse|Syntax)Error: ([^\n]*)\n\s*(\S+:\d+):\d+$/
