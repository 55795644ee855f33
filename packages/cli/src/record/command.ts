import { type Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { helpExamples } from '../examples.ts'
import type { RecordOptions } from './record.ts'

export function addRecord(program: Command, { exitWith }: CommandContext): void {
  program
    .command('record')
    .summary('record a run as a test case')
    .description(
      'Runs an agent and writes what was said, what the models answered and what came out as a case for `millrace test`.',
    )
    .argument('<agent>', 'the name of the agent')
    .argument('[messages...]', 'what the user says, one message for each turn')
    .addOption(
      new Option('--answer <json>', 'answer to a question of the agent, in the order of the questions; repeatable')
        .argParser(gathered)
        .default([], 'none'),
    )
    .option('--state <json>', 'the state in which the session begins')
    .option(
      '--from <file>',
      'take the turns, and the model’s answers, from an exported session (JSONL); or the turns of a case',
    )
    .option('--live', 'with --from: call the models again instead of taking their answers from the file')
    .option('--name <name>', 'name of the case (from the first message)')
    .option('--out <file>', 'file to write (<agents>/<agent>/cases/<name>.case.json)')
    .option('--evalset <file>', 'add the case to an evaluation set of ADK instead; it has no recorded answers')
    .option('--force', 'replace a case of this name')
    .option('--agents <dir>', 'folder of the agents (./agents, or the examples)')
    .option('--json', 'print the case instead of writing it')
    .addHelpText(
      'after',
      helpExamples(
        ['millrace record weather "Will it rain in Lisbon?"', 'one turn'],
        ['millrace record desk "Delete all" --answer \'{"confirmed":true}\'', 'with an answer to its question'],
        ['millrace record desk --from session.jsonl', 'a run that was exported from the page'],
        ['millrace record desk "Hello" --evalset agents/desk/chat.evalset.json', 'for ADK’s own tools'],
      ),
    )
    .action(async (agent: string, messages: string[], options: RecordOptions) => {
      const { recordCommand } = await import('./record.ts')
      exitWith(await recordCommand(agent, messages, options))
    })
}

const gathered = (text: string, before: readonly string[]): readonly string[] => [...before, text]
