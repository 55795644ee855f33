import { type AdkPart, isObject, type Json } from '@millrace/core'

/** The parts of a LangChain message. It is read by shape: a graph may bring its own copy of the library. */
export function messageParts(message: unknown): { id: string | undefined; type: string; parts: readonly AdkPart[] } {
  // The short form: ['ai', 'Hello'].
  if (Array.isArray(message) && message.length === 2) return messageParts({ role: message[0], content: message[1] })
  if (!isObject(message)) return { id: undefined, type: '', parts: [] }
  const { content, tool_calls: calls, id } = message
  const parts: AdkPart[] = []
  const thought = isObject(message.additional_kwargs) ? message.additional_kwargs.reasoning_content : undefined
  if (typeof thought === 'string' && thought !== '') parts.push({ text: thought, thought: true })
  if (typeof content === 'string' && content !== '') parts.push({ text: content })
  for (const block of Array.isArray(content) ? content : []) {
    const part = blockPart(block)
    if (part !== undefined) parts.push(part)
  }
  for (const call of Array.isArray(calls) ? calls : []) {
    if (!isObject(call) || typeof call.name !== 'string') continue
    const args = isObject(call.args) ? (call.args as Record<string, Json>) : {}
    parts.push({ functionCall: { ...(typeof call.id === 'string' ? { id: call.id } : {}), name: call.name, args } })
  }
  const kind =
    typeof message.getType === 'function' ? message.getType.call(message) : (message.type ?? message.role ?? '')
  const type = kind === 'assistant' ? 'ai' : String(kind)
  return { id: typeof id === 'string' ? id : undefined, type, parts }
}

function blockPart(block: unknown): AdkPart | undefined {
  if (!isObject(block)) return undefined
  const { type, text, thinking, reasoning } = block
  if (type === 'text' && typeof text === 'string' && text !== '') return { text }
  const thought = thinking ?? reasoning
  if ((type === 'thinking' || type === 'reasoning') && typeof thought === 'string')
    return { text: thought, thought: true }
  return undefined
}

export interface ToolAnswer {
  readonly id: string | undefined
  readonly response: Readonly<Record<string, Json>>
}

/** A tool's result, as ADK wraps results: an object as it is, anything else under `result`. */
export function toolAnswer(output: unknown): ToolAnswer {
  if (!isObject(output) || !('content' in output)) return { id: undefined, response: wrap(output) }
  const { tool_call_id: id, content, status } = output
  const value = typeof content === 'string' ? (jsonOf(content) ?? content) : content
  const response =
    status === 'error' ? { error: typeof content === 'string' ? content : JSON.stringify(content) } : wrap(value)
  return { id: typeof id === 'string' ? id : undefined, response }
}

function wrap(value: unknown): Readonly<Record<string, Json>> {
  const plain = jsonOf(safeText(value))
  return isObject(plain) ? (plain as Record<string, Json>) : { result: (plain ?? null) as Json }
}

function safeText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify({ error: 'the tool returned a value that is not JSON' })
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
