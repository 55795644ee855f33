import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { dialectOption } from '../dialect-option.ts'
import { helpExamples } from '../examples.ts'
import { headerOption } from '../request-options.ts'
import type { CheckOptions } from './check.ts'

export function addCheck(program: Command, { exitWith }: CommandContext): void {
  program
    .command('check')
    .summary('find what is wrong with a stream or a server')
    .description(
      'Finds what in a stream breaks its contract, with the number of the frame. A server is also probed: bad bodies, missing fields, a reader that leaves, two runs at once. Exits with 1 when there are errors.',
    )
    .argument('[files...]', 'files, URLs, or - for standard input (the default)')
    .addOption(dialectOption('--from <dialect>', 'dialect of the stream', 'auto'))
    .option('--data <json>', 'body of the POST that starts a run on a server; @FILE reads it from a file')
    .addOption(headerOption())
    .option('--no-probe', 'only read the stream of a URL')
    .option('--strict', 'warnings count as errors')
    .option('--json', 'print the report as JSON')
    .option('--sarif', 'print the report as SARIF 2.1.0')
    .option('--junit', 'print the report as JUnit XML')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace check run.sse', 'a recorded run'],
        ['millrace check recordings/*.jsonl --junit > report.xml', 'many, for CI'],
        [
          `millrace check http://127.0.0.1:8000/ag-ui/assistant --data @body.json`,
          'a server: its stream, then its manners',
        ],
      ),
    )
    .action(async (files: readonly string[], options: CheckOptions) => {
      const { checkCommand } = await import('./check.ts')
      exitWith(await checkCommand(files, options))
    })
}
