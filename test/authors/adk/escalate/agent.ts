import {
  BaseAgent,
  createEvent,
  createEventActions,
  type Event,
  FunctionTool,
  type InvocationContext,
  LlmAgent,
  LoopAgent,
} from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: an agent of one's own class checks the state and ends the loop by an event that escalates.

const script = scripted('escalate')
const count = new FunctionTool({
  name: 'count_one',
  description: 'Counts one sack',
  parameters: z.object({}),
  execute: async (_args, context) => {
    await script.effect('count', context?.functionCallId)
    const counted = (context?.state.get<number>('counted') ?? 0) + 1
    context?.state.set('counted', counted)
    return { counted }
  },
})
const worker = new LlmAgent({
  name: 'worker',
  instruction: 'So far: {counted?}',
  model: script.model(({ results }) =>
    results.length === 0 ? call('count_one') : `That makes ${results[0]?.response.counted}.`,
  ),
  tools: [count],
})

class Checker extends BaseAgent {
  protected override async *runAsyncImpl({
    invocationId,
    session,
    branch,
  }: InvocationContext): AsyncGenerator<Event, void, void> {
    await script.step()
    const isDone = session.state.counted === 3
    yield createEvent({
      author: this.name,
      invocationId,
      ...(branch === undefined ? {} : { branch }),
      content: { role: 'model', parts: [{ text: isDone ? 'Enough.' : 'Go on.' }] },
      actions: createEventActions({ escalate: isDone, stateDelta: { checked: session.state.counted } }),
    })
    await script.step()
  }
  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {}
}

export const resumable = true
export const rootAgent = new LoopAgent({
  name: 'until_enough',
  maxIterations: 10,
  subAgents: [worker, new Checker({ name: 'checker' })],
})
