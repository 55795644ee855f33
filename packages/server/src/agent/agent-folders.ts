import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MillraceError } from '@millrace/core'

/** A folder that holds an agent. */
export interface AgentFolder {
  readonly name: string
  readonly file: string
  /** An agent that is written in Python cannot be loaded here. */
  readonly python: boolean
}

const files = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs', 'agent.cjs']

/** The folders in `folder` that have an agent's file, by name. Only names are looked at; nothing is loaded. */
export function agentFolders(folder: string): readonly AgentFolder[] {
  if (!existsSync(folder)) throw new MillraceError('not-found', `the agents folder ${folder} does not exist`)
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => !/^[._]|^node_modules$/.test(entry.name),
  )
  return entries
    .flatMap(({ name }) => {
      const file = files.map((candidate) => join(folder, name, candidate)).find((path) => existsSync(path))
      if (file !== undefined) return [{ name, file, python: false }]
      const python = pythonFile(join(folder, name))
      return python === undefined ? [] : [{ name, file: python, python: true }]
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** `agent.py`, or a package whose `__init__.py` has the agent, as `adk web` finds them. */
function pythonFile(folder: string): string | undefined {
  const agent = join(folder, 'agent.py')
  if (existsSync(agent)) return agent
  const init = join(folder, '__init__.py')
  return existsSync(init) && /\broot_agent\b/.test(readFileSync(init, 'utf8')) ? init : undefined
}
