import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

export type Env = Readonly<Record<string, string | undefined>>

/**
 * The variables of `.env` files, for settings and for the code of agents. The process's own variables win over every file,
 * an agent's folder over the agents folder, and that over the working directory. Values are never printed.
 */
export interface EnvFiles {
  /** The variables of the working directory and the process, for settings. */
  readonly base: Env
  /** What `read` and `of` read besides the `.env` of the agent's folder and of the agents folder. */
  readonly files: readonly string[]
  /** The variables of the agent in `folder`, read from its files now. */
  read(folder: string): Env
  /** The same; they are also put into this process, for an agent whose code runs in it. */
  of(folder: string): Env
}

/** What only the server may know. Agents are other people's code, so they do not get these. */
const serverOnly: ReadonlySet<string> = new Set(['MILLRACE_TOKENS', 'MILLRACE_PROXY_SECRET'])

function forAgents(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !serverOnly.has(name)))
}

/** `variables` is the process's environment: variables from files are added to it, and removed when they leave the file. */
export function envFiles(variables: NodeJS.ProcessEnv, workingFolder: string): EnvFiles {
  const all: Env = { ...variables }
  const own = forAgents(all)
  for (const name of serverOnly) delete variables[name]
  const added = new Map<string, Set<string>>()
  const apply = (place: string, found: Env): void => {
    for (const name of added.get(place) ?? []) if (!(name in found)) delete variables[name]
    const names = Object.keys(found).filter((name) => own[name] === undefined)
    for (const name of names) variables[name] = found[name]
    added.set(place, new Set(names))
  }
  const base = { ...readEnv(workingFolder), ...all }
  apply(workingFolder, forAgents(base))
  const filesOf = (folder: string): Env =>
    forAgents({ ...readEnv(workingFolder), ...readEnv(join(folder, '..')), ...readEnv(folder) })
  return {
    base,
    files: [join(workingFolder, '.env')],
    read: (folder) => ({ ...filesOf(folder), ...own }),
    of(folder) {
      const found = filesOf(folder)
      apply(workingFolder, forAgents(readEnv(workingFolder)))
      apply(folder, found)
      return { ...found, ...own }
    },
  }
}

/** The `.env` of a folder; empty when it has none that can be read. */
function readEnv(folder: string): Env {
  let text: string
  try {
    text = readFileSync(join(folder, '.env'), 'utf8')
  } catch {
    return {}
  }
  return parseEnv(text)
}
