import { FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: callbacks before and after the agent, its model and its tools observe, replace and refuse.

const script = scripted('callbacks')
const weigh = new FunctionTool({
  name: 'weigh',
  description: 'Weighs a sack',
  parameters: z.object({ sack: z.string() }),
  execute: async ({ sack }, context) => {
    await script.effect(`weigh ${sack}`, context?.functionCallId)
    return { kilos: 80 }
  },
})
const count = (key: string, state: { get<T>(key: string): T | undefined; set(key: string, value: unknown): void }) =>
  state.set(key, (state.get<number>(key) ?? 0) + 1)

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'clerk',
  model: script.model(({ text, results }) => {
    const sacks = text.split(' ').slice(1)
    const [sack] = sacks.slice(results.length)
    if (sack !== undefined) return call('weigh', { sack })
    return `Weighed: ${results.map(({ response }) => response.kilos ?? response.refused).join(', ')} stone.`
  }),
  tools: [weigh],
  beforeAgentCallback: async ({ state }) => {
    await script.step()
    count('visits', state)
    return undefined
  },
  afterAgentCallback: async ({ state }) => {
    await script.step()
    count('served', state)
    return { role: 'model', parts: [{ text: 'Signed by the clerk.' }] }
  },
  // A guard: the model is not asked at all.
  beforeModelCallback: ({ context, request }) => {
    context.state.set('asked', request.contents.length)
    const said = request.contents.at(-1)?.parts?.[0]?.text ?? ''
    if (!said.includes('secret')) return undefined
    return { content: { role: 'model', parts: [{ text: 'I must not say that.' }] } }
  },
  afterModelCallback: ({ response }) => {
    const { parts = [] } = response.content ?? {}
    if (!parts.some(({ text }) => text?.includes('stone'))) return undefined
    const changed = parts.map((part) =>
      part.text === undefined ? part : { text: part.text.replace('stone', 'kilos') },
    )
    return { ...response, content: { role: 'model', parts: changed } }
  },
  beforeToolCallback: ({ args, context }) => {
    count('calls', context.state)
    return args.sack === 'wet' ? { refused: 'wet sacks' } : undefined
  },
  afterToolCallback: ({ response, context }) => {
    count('answers', context.state)
    return typeof response.kilos === 'number' ? { ...response, unit: 'kg' } : undefined
  },
})
