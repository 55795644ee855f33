import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { dialectOption } from '../dialect-option.ts'
import { helpExamples } from '../examples.ts'
import { numberArgument } from '../request-options.ts'
import type { ReplayOptions } from './replay.ts'

export function addReplay(program: Command, _context: CommandContext): void {
  program
    .command('replay')
    .summary('serve a recorded run as a mock server')
    .description(
      'Serves a recorded run with its original timing, in the dialect that a client asks for by its route: AG-UI (POST / and /ag-ui/NAME), ADK (/run_sse, /run), Studio (/api/projects/NAME/stream), plan (/sessions/ID/chat and /execute). Each request gets the next run of the recording; after the last one comes the first again.',
    )
    .argument('<file>', 'a recording of any dialect, or an export of a session')
    .addOption(dialectOption('--from <dialect>', 'dialect of the recording', 'auto'))
    .addOption(dialectOption('--dialect <dialect>', 'answer every route in this dialect'))
    .option('--port <n>', 'port to listen on', numberArgument(0, 65_535), 8001)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--speed <x>', 'how many times faster than recorded; 0: at once', numberArgument(0, 1e6, false), 1)
    .option('--json', 'print the address, and each run that is served, as one JSON value a line')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace replay run.sse', 'with its original timing, on port 8001'],
        ['millrace replay run.jsonl --speed 0 --port 9000', 'at once, for tests of a front end'],
        ['millrace replay run.sse --port 0 --json | head -1 | jq -r .address', 'the address, for a script'],
      ),
    )
    .action(async (file: string, options: ReplayOptions) => {
      const { replayCommand } = await import('./replay.ts')
      await replayCommand(file, options)
    })
}
