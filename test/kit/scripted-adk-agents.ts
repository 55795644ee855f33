import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const model = `import { BaseLlm, FunctionTool, LlmAgent, ParallelAgent, SequentialAgent } from '@google/adk'
import { z } from 'zod'
class Scripted extends BaseLlm {
  constructor(reply) { super({ model: 'scripted' }); this.reply = reply }
  async *generateContentAsync(request, stream = false) {
    const { parts } = request.contents.at(-1)
    const said = this.reply(parts.map(({ text }) => text ?? '').join(''), parts.find((part) => part.functionResponse)?.functionResponse)
    const told = { usageMetadata: { promptTokenCount: 10 * request.contents.length, candidatesTokenCount: 7, totalTokenCount: 10 * request.contents.length + 7 }, modelVersion: 'scripted-1', finishReason: 'STOP' }
    if (typeof said !== 'string') { yield { content: { role: 'model', parts: [{ functionCall: said }] }, ...told }; return }
    for (const text of stream ? said.split(/(?<= )/) : []) yield { content: { role: 'model', parts: [{ text }] }, partial: true }
    yield { content: { role: 'model', parts: [{ text: said }] }, ...told }
  }
}
const agent = (name, reply, more = {}) => new LlmAgent({ name, model: new Scripted(reply), ...more })
`
/** Agents with scripted models: `desk` hands over to `billing`, which calls a tool, and fails on 'fail'; `pair` has two beside each other. */
export const scriptedAdkAgents: Readonly<Record<string, string>> = {
  desk: `${model}
const look = new FunctionTool({ name: 'look', description: 'Looks', parameters: z.object({ order: z.string() }), execute: ({ order }, { state }) => { state.set('order', order); return { order, status: 'late' } } })
const billing = agent('billing', (text, result) => (result?.name === 'look' ? 'Order A7 is late.' : { name: 'look', args: { order: 'A7' } }), { tools: [look], outputKey: 'advice' })
export const rootAgent = agent('desk', (text) => { if (text === 'fail') throw new Error('the model is down'); return { name: 'transfer_to_agent', args: { agentName: 'billing' } } }, { subAgents: [billing] })
`,
  pair: `${model}
const both = new ParallelAgent({ name: 'both', subAgents: [agent('north', () => 'It is cold.'), agent('south', () => 'It is warm.')] })
export const rootAgent = new SequentialAgent({ name: 'pair', subAgents: [both, agent('sum', () => 'Cold and warm.')] })
`,
}

/** Writes them as an author of ADK would, beside the packages of this repository; returns the folder of the agents. */
export function scriptedAdkFolder(folder: string): string {
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  for (const [name, source] of Object.entries(scriptedAdkAgents)) {
    mkdirSync(join(folder, 'agents', name), { recursive: true })
    writeFileSync(join(folder, 'agents', name, 'agent.mjs'), source)
  }
  return join(folder, 'agents')
}
