import { wireText } from '@millrace/core/testing'

/** One turn as ADK writes it: a question, a call, its result, the answer; two seconds in all. */
export const began = 1_767_081_391
const turn = (invocationId: string, from: number): readonly object[] =>
  [
    { author: 'user', content: { role: 'user', parts: [{ text: 'Which fire?' }] } },
    { author: 'scout', content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'find', args: {} } }] } },
    {
      author: 'scout',
      content: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'find', response: { fire: 'Cedar' } } }] },
      actions: { stateDelta: { fire: 'Cedar' } },
    },
    { author: 'scout', content: { role: 'model', parts: [{ text: 'Cedar Creek.' }] } },
  ].map((event, i) => ({ id: `${invocationId}-${i}`, invocationId, timestamp: from + i * 0.5, ...event }))
export const events = turn('i1', began)
export const snake = events.map((event) => {
  const { invocationId, ...rest } = event as { invocationId: string }
  return { invocation_id: invocationId, ...rest }
})
export const inMs = events.map((event) => ({ ...event, timestamp: (event as { timestamp: number }).timestamp * 1000 }))
export const jsonl = (items: readonly object[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join('')
export const sse = (items: readonly object[]): string =>
  items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('')
export const session = {
  id: 'their-session',
  appName: 'scouts',
  userId: 'u',
  state: { fire: 'Cedar', region: 'west' },
  events: [...events, ...turn('i2', began + 60)],
  lastUpdateTime: began + 70,
}
export const agUi = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
  { type: 'STEP_STARTED', stepName: 'scout' },
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'find' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
  { type: 'TOOL_CALL_RESULT', messageId: 'm1', toolCallId: 'c1', content: '{}' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm2', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm2', delta: 'Cedar Creek.' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm2' },
  { type: 'STEP_FINISHED', stepName: 'scout' },
  { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
].map((event, i) => ({ ...event, timestamp: began * 1000 + i * 100 }))
export const studio = wireText([
  { event: 'session', data: 's' },
  { event: 'trace', data: '{"type":"node_start","node":"scout","step":0}' },
  { event: 'tool_call', data: '{"name":"find","args":{}}' },
  { event: 'tool_result', data: '{"name":"find","result":{}}' },
  { event: 'chunk', data: 'Cedar Creek.' },
  { event: 'trace', data: '{"type":"node_end","node":"scout","step":0,"duration_ms":1500}' },
  { event: 'end', data: 's' },
])
export const plan = wireText(
  [
    { type: 'tool_call', tool: 'find', args: {} },
    { type: 'tool_result', tool: 'find', result: {} },
    { type: 'content', content: 'Cedar Creek.' },
    { type: 'done' },
  ].map((data) => ({ event: data.type, data: JSON.stringify(data) })),
)
