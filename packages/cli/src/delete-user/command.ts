import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { helpExamples } from '../examples.ts'
import type { DeleteUserOptions } from './delete-user.ts'

export function addDeleteUser(program: Command, { env }: CommandContext): void {
  program
    .command('delete-user')
    .summary('delete everything of a user')
    .description('Deletes everything of a user: sessions, shared values, evaluation sets.')
    .argument('<user>', 'the user to delete')
    .option('--data-dir <dir>', 'folder of the SQLite database (DATA_DIR, .millrace); the server must be stopped')
    .option('--database <url>', 'the same as a URL: file:DIR (DATABASE_URL)')
    .option('--server <url>', 'delete on a running server instead; MILLRACE_TOKEN is the token of an operator')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace delete-user ada', 'in the database of this folder'],
        ['millrace delete-user ada --server http://127.0.0.1:8000', 'on a running server'],
      ),
    )
    .action(async (user: string, options: DeleteUserOptions) => {
      const { deleteUserCommand } = await import('./delete-user.ts')
      await deleteUserCommand(user, options, env)
    })
}
