import type { Answer } from './model-server.ts'

// The events of Anthropic's Messages API, as its documentation shows them.

export const start = () => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5-20251001',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 1 },
  },
})
export const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
export const delta = (index: number, of: object) => ({ type: 'content_block_delta', index, delta: of })
export const stop = (index: number) => ({ type: 'content_block_stop', index })

/** The end of a message. The counts are cumulative. */
export const message = (stop_reason: string, more: object = {}): readonly object[] => [
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null, ...more },
    usage: { input_tokens: null, output_tokens: 12, output_tokens_details: { thinking_tokens: 3 } },
  },
  { type: 'message_stop' },
]

/** A whole answer of text. */
export const reply = (...texts: string[]): readonly object[] => [
  start(),
  block(0, { type: 'text', text: '' }),
  { type: 'ping' },
  ...texts.map((text) => delta(0, { type: 'text_delta', text })),
  stop(0),
  ...message('end_turn'),
]

/** Named events, as the Messages API sends them. A string is sent as it is. */
export const claude =
  (events: readonly (object | string)[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    for (const event of events) {
      const name = typeof event === 'string' ? 'content_block_delta' : Reflect.get(event, 'type')
      response.write(`event: ${name}\ndata: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    }
    response.end()
  }
