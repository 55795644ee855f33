import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { dialectOption } from '../dialect-option.ts'
import { helpExamples } from '../examples.ts'
import type { DiffOptions } from './diff.ts'

export function addDiff(program: Command, { exitWith }: CommandContext): void {
  program
    .command('diff')
    .summary('compare two runs')
    .description(
      'Compares two recordings, of the same dialect or of two: messages, tools, state and timing, with the first step in which they differ. Times alone are no difference. Exits with 1 when they differ.',
    )
    .argument('<a>', 'a recording, or a URL')
    .argument('<b>', 'another one')
    .addOption(dialectOption('--from <dialect>', 'dialect of both', 'auto'))
    .option('--json', 'print the comparison as JSON')
    .addHelpText('after', helpExamples(['millrace diff yesterday.sse today.sse', 'what changed']))
    .action(async (a: string, b: string, options: DiffOptions) => {
      const { diffCommand } = await import('./diff.ts')
      exitWith(await diffCommand(a, b, options))
    })
}
