import { FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: a tool saves files with versions, for the session or for the user, and another one loads them.

const script = scripted('artifacts')
const save = new FunctionTool({
  name: 'save_report',
  description: 'Saves a report',
  parameters: z.object({ name: z.string(), text: z.string() }),
  execute: async ({ name, text }, context) => {
    const version = await context?.saveArtifact(name, { text })
    await script.effect(`save ${name} ${text}`, context?.functionCallId)
    return { version }
  },
})
const load = new FunctionTool({
  name: 'load_report',
  description: 'Loads a report and lists those with the same ending',
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }, context) => ({
    all: (await context?.listArtifacts())?.filter((other) => other.endsWith(name.split('.').at(-1) ?? '')),
    first: (await context?.loadArtifact(name, 0))?.text ?? null,
    newest: (await context?.loadArtifact(name))?.text ?? null,
  }),
})

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'archivist',
  model: script.model(({ text, results }) => {
    const [word, name = '', ...more] = text.split(' ')
    if (word === 'load')
      return results.length === 0 ? call('load_report', { name }) : JSON.stringify(results[0]?.response)
    const next = more[results.length]
    return next === undefined ? `Saved ${results.length}.` : call('save_report', { name, text: next })
  }),
  tools: [save, load],
})
