import { isObject } from '@millrace/core'
import type { Agent, AgentDescription } from '../agent.ts'
import type { ModelChoice, ModelSettings } from '../model/settings.ts'

type Model = NonNullable<AgentDescription['model']>
type Choose = (settings: ModelSettings) => ModelChoice

/** Millrace's chat models by the file that made them, as the stack has it. A graph cannot be asked for its models. */
const made = new Map<string, Choose>()

/** Called where a chat model is made: remembers which file did. */
export function noteChatModel(choose: Choose): void {
  const frames = (new Error('to see who calls').stack ?? '').split('\n').slice(1)
  const author = frames.find((frame) => !/[\\/]langgraph[\\/](graph-model|chat-model)\.[jt]s/.test(frame))
  const file = /((?:file:\/\/)?[\\/][^()]*?):\d+:\d+\)?$/.exec(author ?? '')?.[1]
  if (file !== undefined) made.set(file, choose)
}

/**
 * Adds the model to the description of a graph, as far as it is known: what `createAgent` was given, else the model that
 * last answered, else the chat model of Millrace that a file in the agent's folder made. Before its first run, a graph
 * with a model of its own has none in its description.
 */
export function describeModel(name: string, exported: unknown, agent: Agent, settings: ModelSettings): Agent {
  let answered: string | undefined
  return {
    ...agent,
    async describe() {
      const known = givenModel(exported, settings) ?? namedModel(answered) ?? madeModel(name, settings)
      const { model: _, ...described } = await agent.describe()
      return known === undefined ? described : { ...described, model: known }
    },
    async *run(input, context) {
      for await (const event of agent.run(input, context)) {
        if (event.kind === 'agent') answered = event.event.modelVersion ?? answered
        yield event
      }
    },
  }
}

const namedModel = (name: string | undefined): Model | undefined =>
  name === undefined || name === '' ? undefined : { name, offline: name === 'offline' }

const chosenModel = ({ name, kind }: ModelChoice): Model => ({ name, offline: kind === 'offline' })

function isIn(file: string, agent: string): boolean {
  return file.split(/[\\/]/).includes(agent)
}

function madeModel(agent: string, settings: ModelSettings): Model | undefined {
  for (const [file, choose] of made) {
    if (isIn(file, agent)) return chosenModel(choose(settings))
  }
  return undefined
}

/** The model that an agent of `createAgent` keeps among its options: a name, or a chat model of any package. */
function givenModel(exported: unknown, settings: ModelSettings): Model | undefined {
  const options = isObject(exported) && isObject(exported.options) ? exported.options : {}
  const given = options.model
  if (typeof given === 'string') return namedModel(given)
  if (!isObject(given)) return undefined
  if (typeof given.choose === 'function') return chosenModel((given as { choose: Choose }).choose(settings))
  const own = isObject(given.bound) ? given.bound : given
  const name = [own.model, own.modelName].find((one) => typeof one === 'string' && one !== '')
  return namedModel(typeof name === 'string' ? name : undefined)
}
