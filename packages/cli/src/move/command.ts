import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { helpExamples } from '../examples.ts'
import type { StoresToMove } from './move.ts'

export function addMove(program: Command, { env }: CommandContext): void {
  program
    .command('move')
    .summary('move a whole store from SQLite into PostgreSQL, or back')
    .description(
      `Copies a whole store into another one, reads both again and compares them. A move that was cut goes on where it was
when the same command runs again. Evaluation sets are files: copy the folder evals yourself.
FROM_DATABASE_URL and TO_DATABASE_URL say the same as --from and --to without showing a password in the list of processes.`,
    )
    .option('--from <store>', 'a data folder, its millrace.db, or postgresql://…; its servers must be stopped')
    .option('--to <store>', 'the same; a folder and the tables are made if they are missing')
    .option('--merge', 'allow a target that has other sessions; nothing there is overwritten')
    .option('--json', 'print the result as one line of JSON')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace move --from .millrace --to postgresql://db.internal/millrace', 'into PostgreSQL'],
        ['millrace move --from postgresql://db.internal/millrace --to ./copy', 'and back'],
      ),
    )
    .action(async (options: StoresToMove) => {
      const { moveCommand } = await import('./move.ts')
      await moveCommand(options, env)
    })
}
