import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { CommandError } from '../command-error.ts'
import { helpExamples } from '../examples.ts'
import type { TestOptions } from './test.ts'

export function addTest(program: Command, { exitWith }: CommandContext): void {
  program
    .command('test')
    .summary('run recorded runs as tests')
    .description(
      'Runs recorded runs as tests: the agent runs again with the answers that its models gave, without a key, and what it does otherwise is named. Reads *.case.json and ADK’s *.evalset.json.',
    )
    .argument('[paths...]', 'files, or folders to look in (./agents, or the examples)')
    .option('--live', 'call the models instead of playing their recorded answers')
    .option('--n <times>', 'how often each case runs with --live', count, 1)
    .option('--pass-rate <share>', 'share of the runs of a case that must pass, with --live', share, 1)
    .option('--filter <text>', 'only cases whose path has this text')
    .option('--agents <dir>', 'folder of the agents (the folder above each case)')
    .option('--update', 'review the cases that fail one by one, and write what the agent does now')
    .option('--yes', 'with --update: accept every change')
    .option('--open', 'show the runs that failed on the page, until Ctrl-C')
    .option('--junit <file>', 'write a JUnit report')
    .addOption(new Option('--json', 'print the results as JSON').conflicts(['update', 'open']))
    .addHelpText(
      'after',
      helpExamples(
        ['millrace test', 'all cases of ./agents'],
        ['millrace test agents/recovery --junit report.xml', 'one agent, for CI'],
        ['millrace test --live --n 5 --pass-rate 0.8', 'with the real models, five times each'],
        ['millrace test --update', 'accept intended changes, one by one'],
      ),
    )
    .action(async (paths: string[], options: TestOptions) => {
      const { testCommand } = await import('./test.ts')
      exitWith(await testCommand(paths, options))
    })
}

function count(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new CommandError(`--n must be a number from 1 to 9999, not '${text}'`, 2)
}

function share(text: string): number {
  const value = Number(text)
  if (text !== '' && value >= 0 && value <= 1) return value
  throw new CommandError(`--pass-rate must be a number from 0 to 1, not '${text}'`, 2)
}
