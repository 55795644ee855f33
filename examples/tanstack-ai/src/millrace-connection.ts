import { type StreamChunk, withInterruptBinding } from '@tanstack/ai'
import { type ConnectConnectionAdapter, fetchServerSentEvents } from '@tanstack/ai-react'

/**
 * Connects `useChat` with a thread on Millrace. `fetchServerSentEvents` alone is enough for a chat with tools of the
 * server; this adds what TanStack AI expects from its own server: threads that are there after a reload, tools that run
 * in the page, and questions that can be answered.
 */
export function millraceConnection(agent: string, threadId: string, pageTools: readonly string[]) {
  const runs = fetchServerSentEvents(`/ag-ui/${agent}`)
  const thread = `/sessions/${encodeURIComponent(threadId)}/events?dialect=ag-ui-0&from=live&until=idle`
  const past = fetchServerSentEvents(thread, { fetchClient: (_, init) => fetch(thread, init) })
  return {
    connect: (...request) => answerable(runs.connect(...request), pageTools),
    joinRun: (run, signal) => answerable(past.joinRun?.(run, signal) ?? nothing(), pageTools, run),
    // The thread is read as a run that goes on: its first events are snapshots of all that was said.
    hydrate: async () => ({
      messages: [],
      activeRun: { runId: 'thread' },
      interrupts: null,
      page: { truncated: false },
    }),
  } satisfies ConnectConnectionAdapter
}

async function* nothing(): AsyncGenerator<StreamChunk> {}

async function* answerable(chunks: AsyncIterable<StreamChunk>, pageTools: readonly string[], joined?: string) {
  const calls = new Map<string, { readonly name: string; input: string }>()
  for await (const chunk of chunks) {
    if (chunk.type === 'TOOL_CALL_START') calls.set(chunk.toolCallId, { name: chunk.toolCallName, input: '' })
    if (chunk.type === 'TOOL_CALL_ARGS') {
      const call = calls.get(chunk.toolCallId)
      if (call !== undefined) call.input += chunk.delta
    }
    yield chunk.type === 'RUN_FINISHED' ? withBindings(chunk, joined ?? chunk.runId) : chunk
    if (chunk.type !== 'TOOL_CALL_END') continue
    const call = calls.get(chunk.toolCallId)
    if (call === undefined || !pageTools.includes(call.name)) continue
    const value = { toolCallId: chunk.toolCallId, toolName: call.name, input: JSON.parse(call.input || '{}') }
    yield { type: 'CUSTOM', name: 'tool-input-available', value } as StreamChunk
  }
}

/** TanStack AI answers only questions that have its mark, under the name that it has for the run. */
function withBindings(chunk: Extract<StreamChunk, { type: 'RUN_FINISHED' }>, interruptedRunId: string): StreamChunk {
  if (chunk.outcome?.type !== 'interrupt') return chunk
  const interrupts = chunk.outcome.interrupts.map(({ responseSchema: _, ...question }) =>
    withInterruptBinding(question, {
      v: 1,
      kind: 'generic',
      interruptId: question.id,
      interruptedRunId,
      generation: 0,
    }),
  )
  return { ...chunk, outcome: { ...chunk.outcome, interrupts } }
}
