import type { RunEvent, RunInput } from '@millrace/core'
import type { Agent, RunContext } from '@millrace/server'

type Script = (input: RunInput, context: RunContext) => AsyncIterable<RunEvent> | Iterable<RunEvent>

/** An agent for tests: what it yields is written in the test. */
export function scriptedAgent(name: string, script: Script, { resumable = false, engine = 'adk' } = {}): Agent {
  return {
    name,
    describe: async () => ({
      name,
      description: `The ${name} of this test`,
      engine,
      graph: { nodes: [{ id: name, kind: 'agent' }], edges: [] },
      examples: ['Hello'],
      resumable,
    }),
    run(input, context) {
      const events = script(input, context)
      // Passed on as it is where it is no list: what the engine makes of a bad stream is for tests to see.
      return events !== undefined && Symbol.iterator in events ? streamOf(events) : (events as AsyncIterable<RunEvent>)
    },
  }
}

async function* streamOf(events: Iterable<RunEvent>): AsyncGenerator<RunEvent> {
  yield* events
}

/** One message as a model streams it: words as partials, then the whole. */
export function* speech(
  author: string,
  text: string,
  { message = 'm', at = 1_767_081_391_000 } = {},
): Generator<RunEvent> {
  const words = text.match(/\S+\s*/g) ?? []
  const event = (id: string, parts: readonly { text: string }[], partial: boolean): RunEvent => ({
    kind: 'agent',
    message,
    event: {
      id,
      author,
      invocationId: 'inv',
      timestamp: at,
      content: { role: 'model', parts },
      ...(partial ? { partial } : {}),
    },
  })
  for (const [i, word] of words.entries()) yield event(`${message}-${i}`, [{ text: word }], true)
  yield event(`${message}-whole`, [{ text }], false)
}

export const textOf = ({ messages }: RunInput): string =>
  messages
    .flatMap(({ content }) => content.parts ?? [])
    .map((part) => part.text ?? '')
    .join('')
