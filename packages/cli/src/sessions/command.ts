import { dialectNames } from '@millrace/core'
import { foundKinds } from '@millrace/core/store'
import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { CommandError } from '../command-error.ts'
import { helpExamples } from '../examples.ts'
import type { SearchOptions } from './search.ts'
import type { ExportOptions, ListOptions, PlaceOptions } from './sessions.ts'
import { statusQueries } from './status-query.ts'

const statuses = Object.keys(statusQueries)

export function addSessions(program: Command, { env }: CommandContext): void {
  const sessions = program
    .command('sessions')
    .summary('list, export, import, remove and search sessions')
    .description('The log from the shell: of a local folder, whose server must be stopped, or of a running server.')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace sessions ls', 'the sessions in .millrace, newest first'],
        ['millrace sessions export ID --server http://127.0.0.1:8000 > run.jsonl', 'one session as a file'],
        ['millrace sessions export ID --format html --out report.html', 'a report to hand over'],
        ['millrace sessions import recording.sse', 'a recorded stream of any dialect'],
        ['millrace sessions search "cedar creek"', 'who said this'],
        ['millrace sessions rm ID', 'delete a session and its log'],
      ),
    )
  const placed = (name: string, does: string, ...examples: readonly (readonly [string, string])[]): Command =>
    sessions
      .command(name)
      .summary(does)
      .description(`${does[0]?.toUpperCase()}${does.slice(1)}.`)
      .addHelpText('after', helpExamples(...examples))
      .option('--data-dir <dir>', 'folder of the SQLite database (DATA_DIR, .millrace)')
      .option('--database <url>', 'the same as a URL: file:DIR or postgresql://… (DATABASE_URL)')
      .option('--server <url>', 'a running server; MILLRACE_TOKEN is the token of the user')
  placed(
    'ls',
    'list sessions, newest first',
    ['millrace sessions ls', 'the sessions in .millrace, newest first'],
    ['millrace sessions ls --server http://127.0.0.1:8000 --status failed', 'those that failed, on a running server'],
  )
    .option('--agent <name>', 'only those of an agent')
    .addOption(new Option('--status <status>', 'only those in this state').choices(statuses))
    .option('--limit <n>', 'at most so many', atMost, 50)
    .option('--json', 'print JSON')
    .action(async (options: ListOptions) => (await import('./sessions.ts')).listCommand(options, env))
  placed(
    'export',
    'print a session as JSONL, in a dialect, or as a report',
    ['millrace sessions export ID > run.jsonl', 'the log, for import, replay, check and record'],
    ['millrace sessions export ID --dialect ag-ui', 'as an AG-UI client gets it'],
    ['millrace sessions export ID --format html --out report.html', 'a report to hand over'],
  )
    .argument('<session>', 'the id')
    .addOption(
      new Option('--format <name>', 'jsonl: the log; html: a report in one file, to read, print and hand over')
        .choices(['jsonl', 'html'])
        .default('jsonl'),
    )
    .addOption(
      new Option('--dialect <name>', 'print it in this dialect').choices(dialectNames).conflicts(['format', 'run']),
    )
    .option('--run <run>', 'with --format html: a report of this run only')
    .option('--out <file>', 'write to a file')
    .action(async (session: string, options: ExportOptions) =>
      (await import('./sessions.ts')).exportCommand(session, options, env),
    )
  placed(
    'import',
    'make a session of an export or a recording',
    ['millrace sessions import run.jsonl', 'an export, under a new id'],
    [
      'millrace sessions import recording.sse --id seen --server http://127.0.0.1:8000',
      'a recorded stream, into a running server',
    ],
  )
    .argument('[file]', 'the file; - or nothing: standard input')
    .option('--id <id>', 'id of the new session')
    .option('--agent <name>', 'agent of the new session')
    .option('--json', 'print the session as JSON')
    .action(
      async (
        file: string | undefined,
        options: PlaceOptions & { readonly id?: string; readonly agent?: string; readonly json?: boolean },
      ) => (await import('./sessions.ts')).importCommand(file, options, env),
    )
  placed(
    'rm',
    'delete sessions and their logs',
    ['millrace sessions rm ID', 'delete a session and its log'],
    ['millrace sessions ls --status failed --json | jq -r .[].id | xargs millrace sessions rm', 'those that failed'],
  )
    .argument('<sessions...>', 'their ids')
    .option('--json', 'print one JSON value for each session')
    .action(async (ids: string[], options: PlaceOptions & { readonly json?: boolean }) =>
      (await import('./sessions.ts')).removeCommand(ids, options, env),
    )
  placed(
    'search',
    'find anything that was said, called, stored or went wrong',
    ['millrace sessions search "cedar creek"', 'who said this'],
    ['millrace sessions search timeout --kind error --order newest', 'the newest errors with this word'],
  )
    .argument('<words>', 'the words, whatever their case; of the last one the beginning is enough')
    .addOption(new Option('--kind <kind>', 'only this kind of text').choices(foundKinds))
    .option('--agent <name>', 'only sessions of an agent')
    .addOption(new Option('--status <status>', 'only sessions in this state').choices(statuses))
    .option('--from <time>', 'not before this time, such as 2026-11-16')
    .option('--to <time>', 'before this time')
    .addOption(new Option('--order <order>', 'which come first').choices(['best', 'newest']).default('best'))
    .option('--limit <n>', 'at most so many', atMost, 50)
    .option('--json', 'print JSON')
    .action(async (text: string, options: SearchOptions) =>
      (await import('./search.ts')).searchCommand(text, options, env),
    )
}

function atMost(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 500) return Number(text)
  throw new CommandError(`--limit must be a number from 1 to 500, not '${text}'`, 2)
}
