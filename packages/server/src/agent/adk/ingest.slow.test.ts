import {
  FunctionTool,
  Gemini,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  StreamingMode,
  setLogLevel,
} from '@google/adk'
import { adkIngest, isRunEvent } from '@millrace/core'
import { expect, test } from 'vitest'

// Slow: importing @google/adk takes seconds. What the real library streams, with its model's HTTP client replaced.
const usageMetadata = { promptTokenCount: 5, totalTokenCount: 9 }
const chunk = (parts: readonly object[], finishReason?: string): object => ({
  candidates: [{ content: { role: 'model', parts }, finishReason }],
  usageMetadata,
})
const turns = [
  [
    chunk([{ text: 'The user asks. ', thought: true }]),
    chunk([{ text: 'Let me ' }]),
    chunk([{ text: 'check. ' }]),
    chunk([{ functionCall: { name: 'look', args: {} } }]),
    chunk([{ functionCall: { name: 'look', args: {} } }]),
    chunk([{ text: '' }], 'STOP'),
  ],
  [chunk([{ text: 'Do' }]), chunk([{ text: 'ne.' }]), chunk([{ text: '' }], 'STOP')],
]

test('SPEC 1.4: a stream of the real ADK joins into the messages that were said', async () => {
  setLogLevel(LogLevel.ERROR)
  const events = await streamed()
  const ingest = adkIngest()
  const ingested = events.map((event) => ingest(event))
  const said = new Map<string, { deltas: string; whole: string[]; calls: number; partials: number }>()
  for (const result of ingested) {
    if ('reason' in result) throw new Error(result.reason)
    const { event, message } = result
    expect(isRunEvent({ kind: 'agent', event: JSON.parse(JSON.stringify(event)), message })).toBe(true)
    expect(event.timestamp).toBeGreaterThan(1e12)
    const entry = said.get(message) ?? { deltas: '', whole: [], calls: 0, partials: 0 }
    said.set(message, entry)
    const text = (event.content?.parts ?? []).map((part) => part.text ?? '').join('')
    if (event.partial === true) {
      entry.deltas += text
      entry.partials += 1
    } else if (text !== '') entry.whole.push(text)
    entry.calls += (event.content?.parts ?? []).filter((part) => part.functionCall !== undefined).length
  }
  const spoken = [...said.values()].filter(({ deltas, whole }) => deltas !== '' || whole.length > 0)
  // Each message was streamed and then said once, whole; the deltas are the aggregate.
  for (const { deltas, whole } of spoken) expect(whole).toEqual([deltas])
  expect(spoken.map(({ deltas }) => deltas).join('|')).toBe('The user asks. Let me check. |Done.')
  expect(spoken.map(({ partials }) => partials)).toEqual([3, 2])
  expect([...said.values()].reduce((sum, { calls }) => sum + calls, 0)).toBe(2)
})

async function streamed(): Promise<unknown[]> {
  const model = new Gemini({ model: 'gemini-2.5-flash', apiKey: 'none' })
  let turn = 0
  const generateContentStream = async () =>
    (async function* () {
      yield* turns[turn++] ?? []
    })()
  Object.assign(model, { _apiClient: { vertexai: false, models: { generateContentStream } } })
  const look = new FunctionTool({
    name: 'look',
    description: 'looks',
    execute: async () => 'a fire',
  })
  const agent = new LlmAgent({ name: 'coordinator', model, tools: [look] })
  const sessionService = new InMemorySessionService()
  const session = await sessionService.createSession({ appName: 'app', userId: 'u' })
  const runner = new Runner({ appName: 'app', agent, sessionService })
  const events: unknown[] = []
  for await (const event of runner.runAsync({
    userId: 'u',
    sessionId: session.id,
    newMessage: { role: 'user', parts: [{ text: 'hi' }] },
    runConfig: { streamingMode: StreamingMode.SSE },
  })) {
    events.push(event)
  }
  return events
}
