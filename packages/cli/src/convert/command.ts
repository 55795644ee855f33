import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { dialectOption } from '../dialect-option.ts'
import { helpExamples } from '../examples.ts'
import type { ConvertCommandOptions } from './convert.ts'

export function addConvert(program: Command, { exitWith }: CommandContext): void {
  program
    .command('convert')
    .summary('translate a stream from one dialect to another')
    .description('Translates a recorded or live stream to another dialect, frame by frame, in bounded memory.')
    .argument('[file]', 'a file, a URL, or - for standard input (the default)')
    .addOption(dialectOption('--from <dialect>', 'dialect of the input', 'auto'))
    .addOption(dialectOption('--to <dialect>', 'dialect of the output').makeOptionMandatory())
    .option('--lines', 'print one JSON value a line instead of SSE: the data, or {event, data} where frames have names')
    .addOption(new Option('--json', 'the same as --lines').implies({ lines: true }).hideHelp())
    .option('--session <id>', 'session to name in the output (default: the one that the input names)')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace convert --to ag-ui run.sse', 'a recorded run, in whatever dialect, for an AG-UI client'],
        ['millrace convert --from adk --to studio < run.sse', 'from standard input'],
        [
          'curl -N … | millrace convert --to millrace --lines | jq .event.kind',
          'the canonical events of a live stream',
        ],
      ),
    )
    .action(async (file: string | undefined, options: ConvertCommandOptions) => {
      const { convertCommand } = await import('./convert.ts')
      exitWith(await convertCommand(file, options))
    })
}
