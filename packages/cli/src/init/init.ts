import { existsSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { caseTape, discoverAgents, printCase, recordCase } from '@millrace/server'
import { CommandError } from '../command-error.ts'
import { sayJson, sayLine } from '../output.ts'
import { coloursOf } from '../terminal.ts'
import { writeText } from '../write-text.ts'
import { firstCases, templates } from './templates.ts'

/** Writes a folder of agents. What exists is left as it is. */
export async function initCommand(dir: string, isJson: boolean): Promise<void> {
  const folder = resolve(dir)
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new CommandError(`${dir} is a file; name a folder, or one that does not exist yet`)
  const name =
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .replace(/^[._-]+/, '') || 'agents'
  const written: string[] = []
  const kept: string[] = []
  for (const [path, text] of Object.entries(templates(name)))
    (write(join(folder, path), text) ? written : kept).push(path)
  for (const [path, text] of await cases(folder, written)) if (write(join(folder, path), text)) written.push(path)
  if (isJson) sayJson({ folder, written, kept })
  else tell(folder, written, kept)
}

/** Records the first test of each agent that was written. They run offline here, whatever keys are set. */
async function cases(folder: string, written: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const tape = caseTape()
  const catalog = discoverAgents(join(folder, 'agents'), { models: { model: 'offline', tokensPerSecond: 0, tape } })
  const made: (readonly [string, string])[] = []
  for (const [agent, user] of Object.entries(firstCases)) {
    if (!written.includes(`agents/${agent}/agent.ts`)) continue
    const setting = { tape, agent: (name: string) => catalog.agents.get(name), elapsed: () => performance.now() }
    const recorded = await recordCase({ agent, description: user, turns: [{ user }] }, setting)
    made.push([`agents/${agent}/cases/first.case.json`, printCase(recorded.made)])
  }
  await catalog.close()
  return made
}

function write(file: string, text: string): boolean {
  if (existsSync(file)) return false
  writeText(file, text)
  return true
}

function tell(folder: string, written: readonly string[], kept: readonly string[]): void {
  const colours = coloursOf(process.stdout)
  for (const path of written) sayLine(`  ${colours.good('+')} ${path}`)
  for (const path of kept) sayLine(`  ${colours.faint(`· ${path} exists and was left as it is`)}`)
  const from = relative(process.cwd(), folder)
  const to = from.startsWith('..') ? folder : from
  const steps = [
    ...(to === '' ? [] : [[`cd ${to}`, '']]),
    ['npm install', 'types for your editor'],
    ['npx millrace test', 'run the recorded test cases'],
    ['npx millrace', 'serve the agents, with a page on http://127.0.0.1:8000'],
  ]
  sayLine('\nNext:')
  for (const [command = '', does = ''] of steps) sayLine(`  ${command.padEnd(20)}${colours.faint(does)}`.trimEnd())
}
