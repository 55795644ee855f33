import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import {
  defined,
  type Interrupted,
  type Json,
  type JsonObject,
  MillraceError,
  parseRecorded,
  type Recorded,
  wholeRecording,
} from '@millrace/core'
import {
  type CaseTurn,
  caseOfLog,
  caseTape,
  evalOfCase,
  type MadeCase,
  printCase,
  type RecordedCase,
  readCase,
  readEvalSet,
  recordCase,
} from '@millrace/server'
import { agentsFolder, isExamples } from '../agents-folder.ts'
import { ask, isAsking } from '../ask.ts'
import { CommandError } from '../command-error.ts'
import { ctrlC, interruptedCode } from '../ctrl-c.ts'
import { whyUnreadable } from '../input.ts'
import { localAgents } from '../local-agents.ts'
import { remark, sayLine } from '../output.ts'
import { parseAnswer, questionText } from '../question.ts'
import { coloursOf, counted } from '../terminal.ts'
import { unplayableText } from '../test/report.ts'
import { writeText } from '../write-text.ts'

export interface RecordOptions {
  readonly answer: readonly string[]
  readonly state?: string
  readonly from?: string
  readonly live?: boolean
  readonly name?: string
  readonly out?: string
  readonly evalset?: string
  readonly force?: boolean
  readonly agents?: string
  readonly json?: boolean
}

/** Records a case and resolves with the exit code: 1 when the run failed. */
export async function recordCommand(
  name: string,
  messages: readonly string[],
  options: RecordOptions,
): Promise<number> {
  const source = await sourceOf(messages, options)
  const folder = options.agents ?? agentsFolder()
  const title = options.name ?? source.turns.find(({ user }) => user !== undefined)?.user ?? name
  const { out, evalset, json } = options
  // What is written into an installed package is lost with its next version.
  if (isExamples(folder) && out === undefined && evalset === undefined && json !== true)
    throw new CommandError(
      'the example agents are inside the installed command; make a folder of agents with millrace init, or name the file of the case with --out',
    )
  const file = out ?? join(folder, name, 'cases', `${slug(title)}.case.json`)
  if (json !== true && evalset === undefined && existsSync(file) && options.force !== true)
    throw new CommandError(`${shown(file)} exists; give another --name, or replace it with --force`)
  const tape = caseTape()
  const catalog = await localAgents(folder, { tape, tokensPerSecond: 0 }, source.answers !== undefined)
  const { signal, release } = ctrlC()
  try {
    if (!catalog.agents.has(name)) {
      const known = [...catalog.agents.keys()].join(', ')
      throw new CommandError(`there is no agent ${name} in ${shown(folder)}; known: ${known || 'none'}`)
    }
    const begin = options.state === undefined ? undefined : objectIn(options.state, '--state')
    const made = await recordCase(
      { agent: name, description: title, ...source, ...defined({ begin }) },
      {
        agent: (one) => catalog.agents.get(one),
        tape,
        signal,
        elapsed: () => performance.now(),
        answer: answerer(options.answer, signal),
      },
    )
    if (signal.aborted) return interruptedCode
    write(made, file, title, options)
    return tell(made)
  } finally {
    release()
    await catalog.close()
  }
}

interface CaseSource extends Partial<Pick<RecordedCase, 'begin' | 'judge'>> {
  readonly turns: readonly CaseTurn[]
  readonly answers?: NonNullable<RecordedCase['answers']>
}

async function sourceOf(messages: readonly string[], { from, live }: RecordOptions): Promise<CaseSource> {
  if (from === undefined) {
    if (messages.length > 0) return { turns: messages.map((user) => ({ user })) }
    throw new CommandError('say what the user says: millrace record <agent> "message"; or use --from with a session', 2)
  }
  if (from.endsWith('.case.json')) {
    const { turns, begin, judge } = readCase(textOf(from), from)
    return { turns: turns.map(({ expect: _, ...turn }) => turn), judge, ...defined({ begin }) }
  }
  if (messages.length > 0) throw new CommandError('--from has the messages already; leave out the others', 2)
  const rows = await rowsIn(textOf(from), from)
  const { turns, answers } = caseOfLog(rows)
  if (turns.length === 0) throw new CommandError(`${from} has no runs`)
  return live === true ? { turns } : { turns, answers }
}

/** The events of an export, of a recorded stream, or of `millrace run --json`, whose lines have no header. */
async function rowsIn(text: string, file: string): Promise<readonly Recorded[]> {
  if (text.trim() === '') throw new CommandError(`${file} is empty`)
  const lines = text.trimEnd().split('\n')
  if ('recorded' in parseRecorded(lines[0] ?? ''))
    return lines.flatMap((line) => {
      const row = parseRecorded(line)
      return 'recorded' in row ? [row.recorded] : []
    })
  try {
    return (await wholeRecording(text, { run: 'recorded', now: Date.now })).rows
  } catch (error) {
    throw error instanceof MillraceError ? new CommandError(`${file}: ${error.message}`) : error
  }
}

/** Answers from the flags, then from the person at the terminal. */
function answerer(given: readonly string[], signal: AbortSignal) {
  const left = [...given]
  return async (questions: readonly Interrupted[]): Promise<Json | undefined> => {
    const [question] = questions
    const next = left.shift()
    if (next !== undefined) return parseAnswer(next)
    if (question === undefined || !isAsking()) return undefined
    const typed = await ask(`${questionText(question)} `, signal)
    return typed === undefined ? undefined : parseAnswer(typed)
  }
}

function write({ made }: MadeCase, file: string, title: string, { json, evalset }: RecordOptions): void {
  if (json === true) sayLine(printCase(made).trimEnd())
  else if (evalset !== undefined) {
    addToSet(evalset, made, slug(title))
    remark(`Added to ${shown(evalset)}.`)
  } else {
    writeText(file, printCase(made))
    remark(`Wrote ${shown(file)}.`)
  }
}

function tell({ verdict: { facts, unplayable }, made, unsteady }: MadeCase): number {
  const colours = coloursOf(process.stderr)
  const judged = Object.keys(made.judge).join(', ')
  remark(
    colours.faint(`${counted(facts.turns.length, 'turn')}, ${counted(facts.calls, 'model call')}; judged: ${judged}.`),
  )
  if (unplayable > 0) remark(colours.warn(unplayableText(unplayable)))
  if (unsteady.length > 0)
    remark(colours.warn(`Not judged, because it differs from run to run: ${unsteady.join(', ')}.`))
  const failed = facts.turns.find(({ outcome }) => outcome === 'failed')
  if (failed !== undefined) remark(colours.bad(`The run failed: ${failed.error?.message ?? 'no reason was given'}`))
  return failed === undefined ? 0 : 1
}

function addToSet(file: string, made: RecordedCase, id: string): void {
  const at = Date.now() / 1000
  const name = slug(file.replace(/^.*[\\/]/, '').replace(/\.evalset\.json$|\.json$/, ''))
  const before = existsSync(file) ? jsonOf(file) : { evalSetId: name, name, evalCases: [], creationTimestamp: at }
  const { evalCases } = readEvalSet(before, file)
  // The other cases stay as they are in the file: ADK knows fields that Millrace does not.
  const set = before as Readonly<Record<string, unknown>>
  const key = 'eval_cases' in set ? 'eval_cases' : 'evalCases'
  const kept = ((set[key] ?? []) as readonly unknown[]).filter((_, i) => evalCases[i]?.evalId !== id)
  writeText(file, `${JSON.stringify({ ...set, [key]: [...kept, evalOfCase(made, id, at)] }, null, 2)}\n`)
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(textOf(file))
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`${shown(file)} is not JSON`)
  }
}

function objectIn(text: string, flag: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  } catch {}
  throw new CommandError(`${flag} must be a JSON object, such as '{"key":1}'`, 2)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(whyUnreadable(file, error))
  }
}

/** A text as the name of a file. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '') || 'case'

const shown = (path: string): string => relative(process.cwd(), resolve(path)) || '.'
