import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { MillraceError } from '@millrace/core'
import { platformFile, platformRefusal, type Refusal } from './langgraph-json.ts'

/** A folder that holds an agent. */
export interface AgentFolder {
  readonly name: string
  readonly file: string
  /** Present when the agent can only be listed. */
  readonly refusal?: Refusal
}

const files = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs', 'agent.cjs']

/** The folders in `folder` that have an agent's file, by name. Only names are looked at; nothing is loaded. */
export function agentFolders(folder: string): readonly AgentFolder[] {
  if (!existsSync(folder)) throw new MillraceError('not-found', `the agents folder ${folder} does not exist`)
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => !/^[._]|^node_modules$/.test(entry.name),
  )
  const found = entries.flatMap(({ name }) => agentIn(folder, name) ?? [])
  if (found.length > 0) return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  // The folder of all agents may itself be a project: without this, its author sees an empty list and no reason.
  const refusal = platformRefusal(folder)
  return refusal === undefined ? [] : [{ name: basename(resolve(folder)), file: join(folder, platformFile), refusal }]
}

function agentIn(root: string, name: string): AgentFolder | undefined {
  const folder = join(root, name)
  const file = files.map((candidate) => join(folder, candidate)).find((path) => existsSync(path))
  if (file !== undefined) return { name, file }
  const python = pythonFile(folder)
  if (python !== undefined) {
    const reason = `${name}/${basename(python)} is written in Python: it runs behind \`adk api_server\` or \`langgraph dev\`, see docs/python-agents.md`
    return { name, file: python, refusal: { engine: 'python', reason } }
  }
  const refusal = platformRefusal(root, name)
  return refusal === undefined ? undefined : { name, file: join(folder, platformFile), refusal }
}

/** `agent.py`, or a package whose `__init__.py` has the agent, as `adk web` finds them. */
function pythonFile(folder: string): string | undefined {
  const agent = join(folder, 'agent.py')
  if (existsSync(agent)) return agent
  const init = join(folder, '__init__.py')
  return existsSync(init) && /\broot_agent\b/.test(readFileSync(init, 'utf8')) ? init : undefined
}
