import { createRequire } from 'node:module'
import type { FileEngine } from './agent-engine.ts'
import { fileEngines } from './engines.ts'
import { packageOf } from './optional-package.ts'
import { sourcesOf } from './sources.ts'

/** The server's own packages that an agent's file may import, so that its folder needs none. */
const lent = new Set([...fileEngines.flatMap(({ packages }) => packages), '@millrace/core', '@millrace/server', 'zod'])

/** The modules that an agent's file never loads from its own folder. */
const always = Object.assign({}, ...fileEngines.map(({ modules }) => modules)) as FileEngine['modules']

/** The modules that the server hands to an agent's file, by the name they are imported with. */
export interface SharedModules {
  readonly modules: Record<string, unknown>
  /** Whether the file's folder lacks one of them. */
  readonly needed: boolean
}

/**
 * The modules that must be the server's own, and those that the agent's folder does not have. Only what the file imports
 * is loaded: ADK alone takes two seconds.
 */
export async function sharedModules(file: string): Promise<SharedModules> {
  const modules: Record<string, unknown> = {}
  let needed = false
  for (const [name, from] of (await sourcesOf(file)).imports) {
    if (!lent.has(packageOf(name))) continue
    const load = always[name]
    const missing = !isFound(name, from)
    needed ||= missing
    if (load !== undefined) modules[name] = await load()
    else if (missing) {
      // A module that does not exist at all is reported when the file is loaded, with the line that imports it.
      const found: unknown = await import(/* @vite-ignore */ name).catch(() => undefined)
      if (found !== undefined) modules[name] = found
    }
  }
  return { modules, needed }
}

/** Imports what agents of these engines import, so that their files load at once later. */
export async function preloadEngines(names: readonly string[]): Promise<void> {
  for (const { about, packages, modules } of fileEngines) {
    if (!names.includes(about.engine)) continue
    for (const load of Object.values(modules)) await load().catch(() => undefined)
    for (const name of packages) await import(/* @vite-ignore */ name).catch(() => undefined)
  }
}

function isFound(name: string, from: string): boolean {
  try {
    createRequire(from).resolve(name)
    return true
  } catch {
    return false
  }
}
