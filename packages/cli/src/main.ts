#!/usr/bin/env node
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError } from 'commander'
import { outliveOutput, watchOutput } from './broken-pipe.ts'
import { addCheck } from './check/command.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { addConvert } from './convert/command.ts'
import { addDeleteUser } from './delete-user/command.ts'
import { addDiff } from './diff/command.ts'
import { addDoctor } from './doctor/command.ts'
import type { Env } from './env-files.ts'
import { errnoSentence } from './errno-sentence.ts'
import { addInit } from './init/command.ts'
import { addMove } from './move/command.ts'
import { addRecord } from './record/command.ts'
import { addReplay } from './replay/command.ts'
import { addRun } from './run/command.ts'
import { addServe } from './serve/command.ts'
import { addSessions } from './sessions/command.ts'
import { addTail } from './tail/command.ts'
import { addTap } from './tap/command.ts'
import { visible } from './terminal.ts'
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
  watchOutput()
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
      '\nWithout a command, millrace serves:\n  `millrace --port 9000` is `millrace serve --port 9000`.',
    )
    .configureOutput({ outputError: (text, write) => write(shortened(text.replace(/^error: /, 'millrace: '))) })
    // Names are enough in a list; the arguments are in the help of each command.
    .configureHelp({ minWidthToWrap: 20, subcommandTerm: (command) => command.name() })
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .hook('preAction', (_program, command) => {
      if (command.name() === 'serve') outliveOutput()
    })
  for (const add of commands) add(program, context)
  nameHelp(program, 'millrace')
  return program
}

/** The error for a wrong argument names the help of its own command. */
function nameHelp(command: Command, path: string): void {
  command.showHelpAfterError(`See ${path} --help.`)
  for (const inner of command.commands) nameHelp(inner, `${path} ${inner.name()}`)
}

/** Shortens a long argument that an error repeats. */
const shortened = (text: string): string => text.replace(/[^\s,;']{500,}/g, (word) => `${word.slice(0, 100)}…`)

/** Prints why a command failed, as one sentence, and returns the exit code. */
function failed(error: unknown): number {
  // The parser has already printed its help or its sentence.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const sentence = error instanceof Error ? (errnoSentence(error) ?? error.message) : String(error)
  process.stderr.write(shortened(`millrace: ${visible(sentence)}\n`))
  return error instanceof CommandError ? error.code : 1
}

const started = process.argv[1] === undefined ? '' : realpathSync(process.argv[1])
if (started === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2))
  // What an author's configuration or agent has opened, such as a connection, must not keep a command that failed alive.
  if (process.exitCode !== 0) process.stdout.write('', () => process.stderr.write('', () => process.exit()))
}
