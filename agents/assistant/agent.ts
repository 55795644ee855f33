import { FunctionTool, LlmAgent } from '@google/adk'
import { confirm, model } from '@millrace/server/adk'
import { z } from 'zod'
import { assistantScript } from './offline.ts'
import { weatherOf } from './weather.ts'

export const title = 'Assistant'
export const description = 'A single agent with state: keeps proverbs, looks up the weather, asks before it deletes.'
export const examples = [
  'Hello',
  'Add a proverb: Still waters run deep',
  'List my proverbs',
  'What is the weather in Lisbon?',
  'Delete all proverbs',
  'What is 17 * 23?',
  'Count slowly to 200',
  'Simulate a model failure',
]

/** The proverbs of this session. A client may write state: any value that is not a list of strings counts as empty. */
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

const addProverb = new FunctionTool({
  name: 'add_proverb',
  description: 'Adds a proverb to the list.',
  parameters: z.object({ proverb: z.string().min(1).max(500) }),
  execute({ proverb }, context) {
    const proverbs = [...listOf(context?.state.get('proverbs')), proverb]
    context?.state.set('proverbs', proverbs)
    return { added: proverb, count: proverbs.length }
  },
})

const listProverbs = new FunctionTool({
  name: 'list_proverbs',
  description: 'Lists the proverbs, with their numbers.',
  parameters: z.object({}),
  execute: (_args, context) => ({ proverbs: listOf(context?.state.get('proverbs')) }),
})

const removeProverb = new FunctionTool({
  name: 'remove_proverb',
  description: 'Removes one proverb, by its number (1 is the first).',
  parameters: z.object({ number: z.number().int().min(1) }),
  execute({ number }, context) {
    const proverbs = listOf(context?.state.get('proverbs'))
    const removed = proverbs[number - 1]
    if (removed === undefined) return { error: `There is no proverb ${number}; the list has ${proverbs.length}.` }
    context?.state.set('proverbs', proverbs.toSpliced(number - 1, 1))
    return { removed, count: proverbs.length - 1 }
  },
})

const deleteAllProverbs = new FunctionTool({
  name: 'delete_all_proverbs',
  description: 'Deletes every proverb. A person is asked first, always.',
  parameters: z.object({}),
  execute(_args, context) {
    const { length } = listOf(context?.state.get('proverbs'))
    const some = length === 1 ? 'Delete the only proverb?' : `Delete all ${length} proverbs?`
    const question = length === 0 ? 'The list is empty. Delete all proverbs anyway?' : some
    const waiting = confirm(context, question)
    if (waiting !== undefined) return waiting
    context?.state.set('proverbs', [])
    return { deleted: length }
  },
})

const getWeather = new FunctionTool({
  name: 'get_weather',
  description: 'The weather of a city in a typical week of spring, from bundled climate normals.',
  parameters: z.object({ city: z.string().min(1).max(100) }),
  execute: ({ city }) => weatherOf(city),
})

export const rootAgent = new LlmAgent({
  name: 'assistant',
  description,
  model: model({ offline: assistantScript }),
  instruction: `You are a helpful assistant that keeps a list of proverbs for the user. The list now: {proverbs?}.
Use the tools to add, list, remove and delete proverbs and to look up the weather. Think aloud before you answer a question about numbers.`,
  tools: [addProverb, listProverbs, removeProverb, deleteAllProverbs, getWeather],
  /** A session without proverbs gets the empty list as its first state change, for clients that expect the key. */
  beforeAgentCallback(context) {
    if (context.state.get('proverbs') === undefined) context.state.set('proverbs', [])
    return undefined
  },
})
