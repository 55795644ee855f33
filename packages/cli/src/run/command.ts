import { dialectNames } from '@millrace/core'
import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { helpExamples } from '../examples.ts'
import type { RunOptions } from './run.ts'

export function addRun(program: Command, { env, exitWith }: CommandContext): void {
  program
    .command('run')
    .summary('run an agent once, in the terminal')
    .description(
      'Runs an agent once and streams what its agents say and do. Its questions are answered at the prompt. Exit codes: 0 done, 1 failed, 3 a question was not answered, 130 cancelled.',
    )
    .argument('<agent>', 'the name of the agent')
    .argument('[prompt]', 'what to say to it; without one, what is piped in')
    .addOption(
      new Option(
        '--answer <text>',
        'answer to a question, in the order of the questions: y, n, JSON or text; repeatable',
      )
        .argParser(gathered)
        .default([], 'none'),
    )
    .option('--agents <dir>', 'folder of the agents (./agents, or the examples)')
    .option('--server <url>', 'run on a running server instead; MILLRACE_TOKEN is the token of the user')
    .option('--data-dir <dir>', 'keep the run in the log of this folder (it is kept nowhere)')
    .option('--session <id>', 'go on with a session of the server or the log')
    .option('--state <json>', 'client state, merged into the session’s')
    .option('--thoughts', 'show what models think')
    .addOption(new Option('--dialect <name>', 'print the wire in this dialect instead').choices(dialectNames))
    .addOption(new Option('--json', 'print each event as a line of JSON instead').conflicts('dialect'))
    .addHelpText(
      'after',
      helpExamples(
        ['millrace run recovery "Give me a recovery briefing for Cedar Creek Fire"', 'an example agent, offline'],
        ['millrace run desk "Delete all" --answer y', 'with the answer to its question'],
        ['git diff | millrace run reviewer', 'what is piped in is the prompt'],
        ['millrace run desk "Hello" --dialect ag-ui', 'the wire as a client gets it'],
        ['millrace run desk "Hello" --server http://127.0.0.1:8000', 'on a running server'],
      ),
    )
    .action(async (agent: string, prompt: string | undefined, options: RunOptions) => {
      const { runCommand } = await import('./run.ts')
      exitWith(await runCommand(agent, prompt, options, env))
    })
}

const gathered = (text: string, before: readonly string[]): readonly string[] => [...before, text]
