import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { dialectOption } from '../dialect-option.ts'
import { helpExamples } from '../examples.ts'
import { headerOption, numberArgument } from '../request-options.ts'
import type { TailOptions } from './tail.ts'

export function addTail(program: Command, { env, exitWith }: CommandContext): void {
  program
    .command('tail')
    .summary('follow a session or any stream')
    .description(
      'Follows a session of a Millrace server, or any event stream, and re-joins a session after a cut without losing an event.',
    )
    .argument('<session>', 'id of a session, or a URL')
    .option('--after <seq>', 'begin after this event', numberArgument(0, Number.MAX_SAFE_INTEGER))
    .option('--no-follow', 'end when the session is idle, instead of waiting for more')
    .option('--wire', 'print the frames as they come')
    .option('--jsonl', 'print the canonical events, one a line')
    .addOption(new Option('--json', 'the same as --jsonl').implies({ jsonl: true }).hideHelp())
    .addOption(dialectOption('--from <dialect>', 'dialect of the stream', 'auto'))
    .option('--data <json>', 'POST this body, and follow the answer; @FILE reads it from a file')
    .addOption(headerOption())
    .option('--server <url>', 'server of the session (MILLRACE_SERVER, http://127.0.0.1:8000); MILLRACE_TOKEN is sent')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace tail my-session', 'a session of the local server, for people'],
        ['millrace tail my-session --after 120 --jsonl | jq .event.kind', 'its events after number 120'],
        [
          `millrace tail http://127.0.0.1:8080/run_sse --data @body.json --wire`,
          'a run of another server, as it comes',
        ],
      ),
    )
    .action(async (session: string, options: TailOptions) => {
      const { tailCommand } = await import('./tail.ts')
      exitWith(await tailCommand(session, options, env))
    })
}
