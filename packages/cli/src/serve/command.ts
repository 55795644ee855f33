import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

/** `serve` reads its own arguments, because a flag of it has a variable and a default in a file, too (`settings.ts`). */
export function addServe(program: Command, { agents, exitWith }: CommandContext): void {
  program
    .command('serve')
    .summary('run agents, record their runs and serve the log')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .argument('[settings...]')
    .usage('[agents-dir] [settings]')
    .action(async (_settings, _options, command: Command) => {
      const { serve } = await import('./serve.ts')
      exitWith(await serve(command.args, agents))
    })
}
