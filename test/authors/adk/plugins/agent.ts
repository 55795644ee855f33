import { App, BasePlugin, type BaseTool, type Context, FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: an App whose plugin sees every agent, model call and tool, and answers for a tool that throws.

const script = scripted('plugins')
const lift = new FunctionTool({
  name: 'lift',
  description: 'Lifts a sack',
  parameters: z.object({ sack: z.string() }),
  execute: async ({ sack }, context) => {
    await script.effect(`lift ${sack}`, context?.functionCallId)
    if (sack === 'torn') throw new Error('the sack broke')
    return { lifted: sack }
  },
})

class Watch extends BasePlugin {
  override async beforeAgentCallback({ callbackContext }: { callbackContext: Context }): Promise<undefined> {
    note(callbackContext, 'agent')
  }
  override async beforeModelCallback({ callbackContext }: { callbackContext: Context }): Promise<undefined> {
    note(callbackContext, 'model')
  }
  override async beforeToolCallback({ tool, toolArgs, toolContext }: ToolCall): Promise<Answer | undefined> {
    note(toolContext, tool.name)
    return toolArgs.sack === 'locked' ? { refused: 'locked' } : undefined
  }
  override async afterToolCallback({ result }: ToolCall & { result: Answer }): Promise<Answer> {
    return { ...result, seen: true }
  }
  override async onToolErrorCallback({ error }: ToolCall & { error: Error }): Promise<Answer> {
    return { instead: error.message }
  }
}
interface ToolCall {
  readonly tool: BaseTool
  readonly toolArgs: Record<string, unknown>
  readonly toolContext: Context
}
type Answer = Record<string, unknown>

function note({ state }: Context, what: string): void {
  state.set('watched', [...(state.get<string[]>('watched') ?? []), what])
}

const porter = new LlmAgent({
  name: 'porter',
  model: script.model(({ text, results }) => {
    const [sack] = text.split(' ').slice(1 + results.length)
    return sack === undefined
      ? results.map(({ response }) => JSON.stringify(response)).join(' ')
      : call('lift', { sack })
  }),
  tools: [lift],
})

export const resumable = true
export const app = new App({ name: 'plugins', rootAgent: porter, plugins: [new Watch('watch')] })
