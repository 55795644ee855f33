import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'

/** What an agent's file may import of the server's own packages, so that its folder needs none. */
const lent = /^(@google\/adk|@langchain\/core|@langchain\/langgraph|@millrace\/core|@millrace\/server|zod)(\/|$)/

/** Those that must be the server's: their classes are compared, and what they know of a run is in their own memory. */
const ours: Readonly<Record<string, () => Promise<unknown>>> = {
  '@google/adk': () => import('@google/adk'),
  '@millrace/server/adk': () => import('../adk.ts'),
  '@millrace/server/langgraph': () => import('../langgraph.ts'),
}

/** The modules that the server hands to an agent's file, by the name they are imported with. */
export interface SharedModules {
  readonly modules: Record<string, unknown>
  /** Whether the file could not do without them. */
  readonly needed: boolean
}

/**
 * Its own @google/adk always, and what the agent's folder cannot find itself. Loaded only for files that import them: ADK
 * alone takes two seconds.
 */
export async function sharedModules(file: string): Promise<SharedModules> {
  const modules: Record<string, unknown> = {}
  let needed = false
  for (const [name, from] of await importsOf(file)) {
    const load = ours[name]
    const missing = !isFound(name, from)
    needed ||= missing
    // The engine first: it silences ADK's logger before the agent's file can make it speak.
    if (name === '@google/adk' || name === '@millrace/server/adk') await import('./adk/engine.ts')
    if (load !== undefined) modules[name] = await load()
    else if (missing) {
      // One that is not there is for the agent's file to say, with its place.
      const found: unknown = await import(/* @vite-ignore */ name).catch(() => undefined)
      if (found !== undefined) modules[name] = found
    }
  }
  return { modules, needed }
}

/** What a file and the files beside it that it imports ask of the lent packages, and which file asks first. */
async function importsOf(start: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  const seen = new Set([start])
  for (const file of seen) {
    for (const [, name = ''] of (await readFile(file, 'utf8')).matchAll(imported)) {
      if (lent.test(name) && !names.has(name)) names.set(name, file)
      const beside = name.startsWith('.') ? sourceAt(resolve(dirname(file), name)) : undefined
      if (beside !== undefined) seen.add(beside)
    }
  }
  return names
}

/** `from 'x'`, `import 'x'`, `import('x')`, `require('x')`. One too many, in a comment, does no harm. */
const imported = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"]([^'"\n]+)['"]/g

const endings = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '/index.ts', '/index.js']

/** Where a relative import leads: as written, without its ending, or with `.js` for what is TypeScript. */
function sourceAt(path: string): string | undefined {
  const paths = [...endings.map((ending) => path + ending), path.replace(/\.([cm]?)js$/, '.$1ts')]
  return paths.find((one) => /\.[cm]?[jt]s$/.test(one) && existsSync(one) && statSync(one).isFile())
}

function isFound(name: string, from: string): boolean {
  try {
    createRequire(from).resolve(name)
    return true
  } catch {
    return false
  }
}
