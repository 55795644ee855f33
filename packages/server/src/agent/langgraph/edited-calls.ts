import { isDeepStrictEqual } from 'node:util'
import type { collapseToolCallChunks, ToolCallChunk } from '@langchain/core/messages'
import { isObject } from '@millrace/core'
import { isMessage } from './message-fields.ts'

interface StreamedMessage {
  readonly tool_calls: readonly unknown[]
  tool_call_chunks: ToolCallChunk[]
}

/**
 * A model that streams makes an `AIMessageChunk`, whose calls LangChain reads back from the pieces in which they came.
 * What became of the calls since then would be lost in a saver that writes messages as LangChain's JSON: after a crash
 * a tool would run with what the model had asked, not with a person's edit in `humanInTheLoopMiddleware`. A message
 * without the pieces is read back with its calls as they are. `stored` is a checkpoint, or the writes of a task.
 */
export async function keepEditedCalls(stored: unknown): Promise<void> {
  const streamed = valuesIn(stored).flat().filter(isStreamed)
  if (streamed.length === 0) return
  const messages = await import('@langchain/core/messages')
  for (const message of streamed) if (isEdited(message, messages)) message.tool_call_chunks = []
}

function isEdited(
  { tool_calls, tool_call_chunks }: StreamedMessage,
  read: { readonly collapseToolCallChunks: typeof collapseToolCallChunks },
): boolean {
  const asked = read.collapseToolCallChunks(tool_call_chunks).tool_calls
  return !isDeepStrictEqual(tool_calls.map(meaning), asked.map(meaning))
}

function meaning(call: unknown): unknown {
  return isObject(call) ? [call.id, call.name, call.args] : call
}

/** What the channels hold. */
function valuesIn(stored: unknown): readonly unknown[] {
  if (Array.isArray(stored)) return stored.map((write: unknown) => (Array.isArray(write) ? write[1] : undefined))
  return isObject(stored) && isObject(stored.channel_values) ? Object.values(stored.channel_values) : []
}

function isStreamed(value: unknown): value is StreamedMessage {
  if (!isObject(value) || !isMessage(value)) return false
  const { tool_calls, tool_call_chunks } = value as Partial<StreamedMessage>
  return Array.isArray(tool_calls) && Array.isArray(tool_call_chunks) && tool_call_chunks.length > 0
}
