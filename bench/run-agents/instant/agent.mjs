// The agent of bench/run.ts: its model answers at once, with 40 partials and the whole text.
import { BaseLlm, LlmAgent } from '@google/adk'

const words = Array.from({ length: 40 }, (_, i) => `word ${i} of the answer `)
const says = (text) => ({ role: 'model', parts: [{ text }] })

class InstantLlm extends BaseLlm {
  constructor() {
    super({ model: 'instant' })
  }
  async *generateContentAsync() {
    for (const word of words) yield { content: says(word), partial: true }
    yield { content: says(words.join('')), finishReason: 'STOP', turnComplete: true }
  }
}

export const rootAgent = new LlmAgent({ name: 'instant', model: new InstantLlm(), instruction: 'Answer.' })
