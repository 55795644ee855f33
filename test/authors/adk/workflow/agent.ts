import { createEvent, FunctionNode, JoinNode, LlmAgent, Workflow } from '@google/adk'
import { scripted } from '../scripted-model.ts'

// Pattern: a graph that fans out, joins, decides by a route, and ends in one of two agents.

const script = scripted('workflow')
const estimator = (name: string, litres: number): LlmAgent =>
  new LlmAgent({ name, model: script.model(() => `${litres} litres`), outputKey: name })
const add = new FunctionNode('add', async (context, input) => {
  await script.effect('add', `${context.session.id} ${context.nodePath}`)
  const litres = Object.values(input as Record<string, unknown>).map((text) => Number.parseInt(String(text), 10))
  const sum = litres.reduce((a, b) => a + b, 0)
  context.state.set('sum', sum)
  return sum
})
const decide = new FunctionNode('decide', async (_context, input) => {
  await script.step()
  return createEvent({ route: Number(input) > 500 ? 'much' : 'little', output: input })
})
const teller = (name: string, text: string): LlmAgent =>
  new LlmAgent({ name, model: script.model(() => text), outputKey: 'advice' })

export const resumable = true
export const rootAgent = new Workflow({
  name: 'estimate',
  edges: [
    [
      'START',
      [estimator('upstream', 300), estimator('downstream', 400)],
      new JoinNode({ name: 'gather' }),
      add,
      decide,
      { much: teller('opener', 'Open the gate.'), little: teller('closer', 'Close the gate.') },
    ],
  ],
})
