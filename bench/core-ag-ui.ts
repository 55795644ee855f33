import { HttpAgent } from '@ag-ui/client'
import { agUi, type Frame, fold, itemsOf, printFrame, type Recorded, sseReader, transcriptView } from '@millrace/core'
import { median, type Row } from './kit/row.ts'

/** How a server's writes reach a client: a socket read is at most this much. */
const chunkSize = 16 * 1024
const events = 20_000

/**
 * One answer of 20,000 events, from bytes to the conversation after every event: ours (text, frames,
 * dialect, transcript view) against the official client's `HttpAgent.runAgent`, which clones all messages at every
 * event. Both read the same bytes and must end with the same text.
 */
export async function bench(): Promise<Row[]> {
  process.env.NODE_ENV = 'production' // in development the official client freezes what it hands out, on top
  const payloads = stream(events)
  const bytes = new TextEncoder().encode(payloads.map((data) => printFrame({ data })).join(''))
  const expected = textOf(payloads)
  const ours: number[] = []
  for (let i = 0; i < 7; i++) ours.push(await timed(() => same(read(bytes), expected)))
  const parse = await timed(() => void payloads.map((data) => JSON.parse(data)))
  const peer = await timed(async () => same(await readOfficially(bytes), expected))
  const mine = median(ours)
  return [
    {
      what: `AG-UI client pipeline, one message of ${events} events, ms of CPU`,
      ours: mine,
      peer: '@ag-ui/client 1.0.0 HttpAgent',
      peerValue: peer,
      limit: `JSON.parse alone, ${parse.toFixed(1)} ms`,
      ratio: peer / mine,
      bar: '>= 100 times as fast',
      ok: peer / mine >= 100,
    },
  ]
}

function stream(count: number): readonly string[] {
  const ids = { threadId: 'thread-1', runId: 'run-1' }
  const content = Array.from({ length: count - 4 }, (_, i) => ({
    type: 'TEXT_MESSAGE_CONTENT',
    messageId: 'message-1',
    delta: `token number ${i}, `.padEnd(20),
  }))
  return [
    { type: 'RUN_STARTED', ...ids },
    { type: 'TEXT_MESSAGE_START', messageId: 'message-1', role: 'assistant' },
    ...content,
    { type: 'TEXT_MESSAGE_END', messageId: 'message-1' },
    { type: 'RUN_FINISHED', ...ids },
  ].map((event) => JSON.stringify(event))
}

function textOf(payloads: readonly string[]): string {
  return payloads.map((data) => (JSON.parse(data) as { delta?: string }).delta ?? '').join('')
}

function read(bytes: Uint8Array): string {
  const text = new TextDecoder()
  const reader = sseReader()
  const decoder = agUi.decoder({ run: 'r' })
  let state = transcriptView.initial
  let seq = 0
  for (let at = 0; at < bytes.length; at += chunkSize) {
    const frames: readonly Frame[] = reader.feed(text.decode(bytes.subarray(at, at + chunkSize), { stream: true }))
    for (const frame of frames) {
      const rows = decoder.push(frame).map(({ run, event }): Recorded => ({ seq: ++seq, at: 0, run, event }))
      state = fold(transcriptView, rows, state)
    }
  }
  const [message] = itemsOf(state).filter((item) => item.kind === 'message')
  return message?.text ?? ''
}

async function readOfficially(bytes: Uint8Array): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += chunkSize) controller.enqueue(bytes.slice(at, at + chunkSize))
      controller.close()
    },
  })
  const answer = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const agent = new HttpAgent({ url: 'http://localhost/', fetch: async () => answer })
  await agent.runAgent({ runId: 'run-1' })
  const [message] = agent.messages
  return typeof message?.content === 'string' ? message.content : ''
}

function same(text: string, expected: string): void {
  if (text !== expected) throw new Error(`read ${text.length} of ${expected.length} characters`)
}

/** Milliseconds of CPU: the official side takes many seconds, in which anything may happen on the machine. */
async function timed(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}
