#!/usr/bin/env node
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError } from 'commander'
import { endOnBrokenPipe, ignoreBrokenPipe } from './broken-pipe.ts'
import { addCheck } from './check/command.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { addConvert } from './convert/command.ts'
import { addDeleteUser } from './delete-user/command.ts'
import { addDiff } from './diff/command.ts'
import { addDoctor } from './doctor/command.ts'
import type { Env } from './env-files.ts'
import { addInit } from './init/command.ts'
import { addMove } from './move/command.ts'
import { addRecord } from './record/command.ts'
import { addReplay } from './replay/command.ts'
import { addRun } from './run/command.ts'
import { addServe } from './serve/command.ts'
import { addSessions } from './sessions/command.ts'
import { addTail } from './tail/command.ts'
import { addTap } from './tap/command.ts'
import { addTest } from './test/command.ts'
import { version } from './version.ts'

/**
 * The commands, in the order of `millrace --help`. A command's file declares its arguments and imports what does the
 * work only when it is called: most commands do not need the server, which takes half a second to load.
 */
const commands: readonly ((program: Command, context: CommandContext) => void)[] = [
  addInit,
  addServe,
  addRun,
  addTest,
  addRecord,
  addTail,
  addTap,
  addReplay,
  addConvert,
  addCheck,
  addDiff,
  addSessions,
  addDoctor,
  addMove,
  addDeleteUser,
]

/** Flags of the program itself. Without a command, all others are those of `serve`. */
const ownFlags = new Set(['-h', '--help', '-v', '--version'])

/** Runs a command and resolves with its exit code. `agents` is the folder to serve when no setting names one. */
export async function main(args: readonly string[], agents?: string, env: Env = process.env): Promise<number> {
  let code = 0
  const program = programOf({
    env,
    agents,
    exitWith(wanted) {
      code = wanted
    },
  })
  const [first] = args
  const given = first === undefined || (first.startsWith('-') && !ownFlags.has(first)) ? ['serve', ...args] : args
  try {
    await program.parseAsync([...given], { from: 'user' })
    return code
  } catch (error) {
    return failed(error)
  }
}

function programOf(context: CommandContext): Command {
  const program = new Command('millrace')
    .description('Runs multi-agent systems, records every run in one log, and serves it in many streaming dialects.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText(
      'after',
      '\nWithout a command, millrace serves: `millrace --port 9000` is `millrace serve --port 9000`.',
    )
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'millrace: ')) })
    .showHelpAfterError('Run it with --help for its arguments and examples.')
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .hook('preAction', (_program, command) => {
      if (command.name() === 'serve') ignoreBrokenPipe()
      else endOnBrokenPipe()
    })
  for (const add of commands) add(program, context)
  return program
}

/** Prints why a command failed, as one sentence, and returns the exit code. */
function failed(error: unknown): number {
  // The parser has already printed its help or its sentence.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const sentence = error instanceof Error ? error.message : String(error)
  process.stderr.write(`millrace: ${sentence}\n`)
  return error instanceof CommandError ? error.code : 1
}

const started = process.argv[1] === undefined ? '' : realpathSync(process.argv[1])
if (started === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2))
