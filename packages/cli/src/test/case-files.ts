import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { MillraceError } from '@millrace/core'
import { caseOfEval, type RecordedCase, readCase, readEvalSet } from '@millrace/server'
import { isExamples } from '../agents-folder.ts'
import { CommandError } from '../command-error.ts'

/** A case and where it comes from. */
export interface FoundCase {
  readonly file: string
  /** For people: the path of its file, and for a set its id in it. */
  readonly name: string
  /** The folder of its agent's folder. */
  readonly agents: string
  readonly one: RecordedCase
  /** Whether the file is Millrace's own form, which can be updated. */
  readonly isOwn: boolean
}

const agentFile = /^agent\.([cm]?[jt]s|py)$/

/** The cases of files and folders, by path. A file that is no case is an error. */
export function findCases(paths: readonly string[], agents: string | undefined): readonly FoundCase[] {
  const files = paths.flatMap((path) => filesOf(path).map((file) => [file, nameOf(file, path)] as const)).sort()
  return [...new Map(files)].flatMap(([file, name]) => casesIn(file, name, agents))
}

/** The path from here. The examples are inside the installed package, so their paths begin with the agent. */
const nameOf = (file: string, path: string): string =>
  relative(isExamples(path) ? path : process.cwd(), resolve(file)) || file

function filesOf(path: string): readonly string[] {
  if (!existsSync(path)) throw new CommandError(`there is no ${path}; name a case or a folder of agents`)
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !/^\.|^(node_modules|dist|eval_history)$/.test(name))
    .flatMap((entry) => {
      const inner = join(path, entry.name)
      if (entry.isDirectory()) return filesOf(inner)
      return /\.(case|evalset)\.json$/.test(entry.name) ? [inner] : []
    })
}

function casesIn(file: string, shown: string, agents: string | undefined): readonly FoundCase[] {
  const text = readFileSync(file, 'utf8')
  if (text.trim() === '') throw new CommandError(`${shown} is empty`)
  try {
    if (!file.endsWith('.evalset.json')) {
      const one = readCase(text, shown)
      return [{ file, name: shown, agents: agents ?? folderAround(file, one.agent), one, isOwn: true }]
    }
    const { agent, folder } = agentOf(file, agents)
    return readEvalSet(JSON.parse(text), shown).evalCases.map((each) => ({
      file,
      name: `${shown} ${each.evalId}`,
      agents: folder,
      one: caseOfEval(each, each.sessionInput?.appName || agent),
      isOwn: false,
    }))
  } catch (error) {
    if (error instanceof MillraceError || error instanceof CommandError) throw new CommandError(error.message)
    throw new CommandError(`${shown} is not JSON: ${(error as Error).message}`)
  }
}

/** The nearest folder above a case that has the folder of its agent. */
function folderAround(file: string, agent: string): string {
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    if (isAgent(join(folder, agent))) return folder
    if (folder === dirname(folder))
      throw new CommandError(`${file}: no folder above it has the agent ${agent}; name the folder with --agents`)
  }
}

/** ADK's sets name no agent: theirs is the one whose folder they are in. */
function agentOf(file: string, agents: string | undefined): { readonly agent: string; readonly folder: string } {
  for (let folder = dirname(resolve(file)); folder !== dirname(folder); folder = dirname(folder)) {
    if (isAgent(folder)) return { agent: basename(folder), folder: agents ?? dirname(folder) }
  }
  if (agents !== undefined) return { agent: '', folder: agents }
  throw new CommandError(`${file}: no folder above it has an agent; name the folder of the agents with --agents`)
}

function isAgent(folder: string): boolean {
  return (
    existsSync(folder) && statSync(folder).isDirectory() && readdirSync(folder).some((name) => agentFile.test(name))
  )
}
