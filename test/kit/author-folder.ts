import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes `<folder>/<name>/agent.ts` for each agent, as an author would. */
export function authorFolder(folder: string, agents: Readonly<Record<string, string>>): string {
  for (const [name, source] of Object.entries(agents)) {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'agent.ts'), source)
  }
  return folder
}

/** An ADK agent that says twenty words, each after a pause. */
export const goodAgent = `
import { BaseLlm, LlmAgent } from '@google/adk'
class Speaker extends BaseLlm {
  constructor() { super({ model: 'speaker' }) }
  async *generateContentAsync() {
    let text = ''
    for (let i = 1; i <= 20; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      text += \`word \${i}. \`
      yield { content: { role: 'model', parts: [{ text: \`word \${i}. \` }] }, partial: true }
    }
    yield { content: { role: 'model', parts: [{ text }] } }
  }
  async connect() { throw new Error('this model has no live connection') }
}
export const rootAgent = new LlmAgent({ name: 'good', model: new Speaker(), instruction: 'Say words.' })
`

/** An ADK agent whose model calls a tool, and the tool runs \`code\`. */
export const agentWithTool = (code: string): string => `
import { BaseLlm, FunctionTool, LlmAgent } from '@google/adk'
import { z } from 'zod'
const work = new FunctionTool({
  name: 'work',
  description: 'Does the work.',
  parameters: z.object({}),
  execute: async () => {
    ${code}
    return { ok: true }
  },
})
class Caller extends BaseLlm {
  constructor() { super({ model: 'caller' }) }
  async *generateContentAsync(request) {
    const isAnswered = request.contents.at(-1)?.parts?.some((part) => part.functionResponse !== undefined)
    const parts = isAnswered ? [{ text: 'worked' }] : [{ functionCall: { name: 'work', args: {} } }]
    yield { content: { role: 'model', parts } }
  }
  async connect() { throw new Error('this model has no live connection') }
}
export const rootAgent = new LlmAgent({ name: 'worker', model: new Caller(), tools: [work] })
`

/** A graph that asks a person. */
export const askingGraph = `
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
const State = Annotation.Root({ answer: Annotation, text: Annotation })
export const graph = new StateGraph(State)
  .addNode('ask', () => ({ answer: interrupt({ question: 'May I?' }) }))
  .addNode('tell', ({ answer }) => ({ text: \`you said \${answer}\` }))
  .addEdge(START, 'ask')
  .addEdge('ask', 'tell')
  .compile()
`
