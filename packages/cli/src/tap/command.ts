import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { dialectOption } from '../dialect-option.ts'
import { helpExamples } from '../examples.ts'
import { numberArgument } from '../request-options.ts'
import type { TapOptions } from './tap.ts'

export function addTap(program: Command, { env, exitWith }: CommandContext): void {
  program
    .command('tap')
    .summary('record what a client and an agent server say to each other')
    .description(
      'A recording proxy: clients call it instead of the server and get the same bytes. Every stream becomes a session, with the time of each event, and what is wrong with it is reported. Ctrl-C ends it; it exits with 1 when a stream had errors or the server did not answer.',
    )
    .argument('<url>', 'the server to record')
    .addOption(dialectOption('--dialect <dialect>', 'dialect of the server', 'auto'))
    .option('--port <n>', 'port to listen on', numberArgument(0, 65_535), 8002)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--server <url>',
      'send the sessions to this Millrace server, whose page shows them; MILLRACE_TOKEN is sent',
    )
    .option('--data-dir <dir>', 'put the sessions into the database of this folder; its server must be stopped')
    .option('--out <dir>', 'write each session to a file of this folder, for replay, check and diff')
    .option('--json', 'print the address, and each stream, as one JSON value a line')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace tap http://127.0.0.1:8080 --dialect adk --out runs', 'an ADK server, into files'],
        [
          'millrace tap http://127.0.0.1:9000 --server http://127.0.0.1:8000',
          'into a running Millrace and on its page',
        ],
      ),
    )
    .action(async (url: string, options: TapOptions) => {
      const { tapCommand } = await import('./tap.ts')
      exitWith(await tapCommand(url, options, env))
    })
}
