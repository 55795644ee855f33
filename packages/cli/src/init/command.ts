import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { helpExamples } from '../examples.ts'

export function addInit(program: Command, _context: CommandContext): void {
  program
    .command('init')
    .summary('make a folder of agents')
    .description(
      'Makes a folder with a first ADK agent, a first LangGraph graph, a test case for each, and what an editor needs. Files that exist are left as they are.',
    )
    .argument('[dir]', 'the folder', '.')
    .option('--json', 'print the written files as JSON')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace init my-agents', 'in a new folder'],
        ['cd my-agents && npm install && npx millrace test', 'then: install, and run the tests'],
      ),
    )
    .action(async (dir: string, options: { readonly json?: boolean }) => {
      const { initCommand } = await import('./init.ts')
      await initCommand(dir, options.json === true)
    })
}
