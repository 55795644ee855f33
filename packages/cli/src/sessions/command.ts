import { dialectNames } from '@millrace/core'
import { foundKinds } from '@millrace/core/store'
import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { CommandError } from '../command-error.ts'
import { helpExamples } from '../examples.ts'
import type { SearchOptions } from './search.ts'
import type { ExportOptions, ListOptions, PlaceOptions } from './sessions.ts'

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
  const placed = (name: string): Command =>
    sessions
      .command(name)
      .option('--data-dir <dir>', 'folder of the SQLite database (DATA_DIR, .millrace)')
      .option('--database <url>', 'the same as a URL: file:DIR or postgresql://… (DATABASE_URL)')
      .option('--server <url>', 'a running server; MILLRACE_TOKEN is the token of the user')
  placed('ls')
    .summary('list sessions, newest first')
    .option('--agent <name>', 'only those of an agent')
    .option('--status <status>', 'only idle, running, done, failed, cancelled or interrupted ones')
    .option('--limit <n>', 'at most so many', atMost, 50)
    .option('--json', 'print JSON')
    .action(async (options: ListOptions) => (await import('./sessions.ts')).listCommand(options, env))
  placed('export')
    .summary('print a session as JSONL, in a dialect, or as a report')
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
  placed('import')
    .summary('make a session of an export or a recording')
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
  placed('rm')
    .summary('delete sessions and their logs')
    .argument('<sessions...>', 'their ids')
    .action(async (ids: string[], options: PlaceOptions) =>
      (await import('./sessions.ts')).removeCommand(ids, options, env),
    )
  placed('search')
    .summary('find anything that was said, called, stored or went wrong')
    .argument('<words>', 'the words, whatever their case; of the last one the beginning is enough')
    .addOption(new Option('--kind <kind>', 'only this kind of text').choices(foundKinds))
    .option('--agent <name>', 'only sessions of an agent')
    .option('--status <status>', 'only idle, running, done, failed, cancelled or interrupted sessions')
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
