// An ADK agent with a scripted model, which adk-web's own server runs as well as Millrace does.
import {
  BaseLlm,
  FunctionTool,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  type ToolInputParameters,
} from '@google/adk'

type Part = NonNullable<NonNullable<LlmResponse['content']>['parts']>[number]

/** Answers by what the last content says: `look` calls a tool, `hand over` transfers, `break` fails, anything else is repeated. */
class ScriptedLlm extends BaseLlm {
  constructor() {
    super({ model: 'scripted' })
  }

  override async *generateContentAsync(request: LlmRequest, stream = false): AsyncGenerator<LlmResponse, void> {
    const parts = request.contents.at(-1)?.parts ?? []
    const answered = parts.find(({ functionResponse }) => functionResponse !== undefined)?.functionResponse
    const text = parts.map((part) => part.text ?? '').join('')
    if (/break/.test(text)) throw new Error('the model broke')
    const call = answered === undefined ? callFor(text) : undefined
    if (call !== undefined) {
      yield {
        content: { role: 'model', parts: [call] },
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 },
      }
      return
    }
    const words = answered?.name === 'look' ? ['The shelf ', 'is full.'] : ['You said: ', text || 'nothing', '.']
    if (stream) for (const word of words) yield { content: { role: 'model', parts: [{ text: word }] }, partial: true }
    yield {
      content: { role: 'model', parts: [{ text: words.join('') }] },
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 5 },
    }
  }

  override async connect(): Promise<never> {
    throw new Error('this model has no live connection')
  }
}

function callFor(text: string): Part | undefined {
  if (/look/.test(text)) return { functionCall: { name: 'look', args: { what: 'shelf' } } }
  if (/hand over/.test(text)) return { functionCall: { name: 'transfer_to_agent', args: { agentName: 'expert' } } }
  return undefined
}

const shape = { type: 'OBJECT', properties: { what: { type: 'STRING' } }, required: ['what'] }

const look = new FunctionTool({
  name: 'look',
  description: 'Looks at something and keeps a note about it.',
  parameters: shape as unknown as ToolInputParameters,
  execute: async (input, context) => {
    const { what } = input as { what: string }
    context?.state.set('looked_at', what)
    await context?.saveArtifact('note.txt', { text: `a note about the ${what}` })
    return { seen: what }
  },
})

const expert = new LlmAgent({
  name: 'expert',
  description: 'Knows more.',
  model: new ScriptedLlm(),
  instruction: 'You are an expert.',
})

export const rootAgent = new LlmAgent({
  name: 'clerk',
  description: 'Looks at things.',
  model: new ScriptedLlm(),
  instruction: 'You look at things for people.',
  tools: [look],
  subAgents: [expert],
})
