import type { Draft } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isObject, parseJson } from '../../json/json.ts'
import type { Decoder, DecoderOptions } from '../dialect.ts'
import { factHandlers } from './decode/fact.ts'
import { emptySpan, messageHandlers, readNextToken, readToken } from './decode/message.ts'
import { runHandlers } from './decode/run.ts'
import { DecoderState, type Handler, ignored } from './decode/state.ts'
import { upgrade } from './decode/upgrade.ts'
import type { AgUiEvent } from './wire.ts'

const handlers: ReadonlyMap<string, Handler> = new Map(
  Object.entries({ ...runHandlers, ...messageHandlers, ...factHandlers }),
)

/**
 * Reads AG-UI events. A run ends only by its RUN_FINISHED or RUN_ERROR: when the stream just closes, no end is invented
 * (the problems view reports that it is missing), but a cut is a failure (SPEC 3.6).
 */
export function agUiDecoder({ run, agent = 'assistant', history, sent }: DecoderOptions): Decoder {
  const decoder = new DecoderState(run, agent, history, sent)
  const plain = upgrade(run)

  const take = (event: AgUiEvent): string | undefined => {
    const handle = handlers.get(event.type)
    if (handle === undefined) return `unknown event ${event.type}`
    if (decoder.held.size > 0 && !event.type.startsWith('REASONING_')) flushSpans(decoder)
    const wrong = handle(event, decoder)
    if (wrong === undefined) decoder.document.apply(event)
    return wrong
  }
  const foreign = (frame: Frame, reason: string): void =>
    decoder.emit({ kind: 'foreign', dialect: 'ag-ui', raw: frame.data, reason }, ignored)
  const drafts = (): readonly Draft[] => {
    const made = decoder.drafts
    decoder.drafts = []
    return made
  }

  return {
    get session() {
      return decoder.session
    },
    push(frame) {
      if (frame.data === '') return []
      const next = frame.truncated === true ? undefined : readNextToken(frame.data, decoder)
      if (next !== undefined) return [next]
      const event = frame.truncated === true ? 'the frame is too long' : eventOf(frame.data)
      const token = typeof event !== 'string' && plain.idle ? readToken(event, decoder) : undefined
      if (token !== undefined) return [token]
      // Any other frame may end the message, or open it again.
      decoder.streaming = undefined
      const events = typeof event === 'string' ? event : plain.push(event)
      if (typeof events === 'string') foreign(frame, events)
      else {
        for (const one of events) {
          const wrong = take(one)
          if (wrong !== undefined) foreign(frame, wrong)
        }
        if (decoder.document.full) decoder.forget()
      }
      return drafts()
    },
    end(how) {
      for (const event of plain.end()) take(event)
      flushSpans(decoder)
      if (how === 'cut' && decoder.active) {
        const error = { code: 'cut', message: 'the stream broke off' } as const
        decoder.emit({ kind: 'run.finished', outcome: 'failed', error }, ignored)
      }
      return drafts()
    },
  }
}

/** A reasoning span is empty, so far, when anything but a message of its own follows it. */
function flushSpans(decoder: DecoderState): void {
  for (const span of decoder.held) emptySpan(decoder, span)
}

function eventOf(data: string): AgUiEvent | string {
  const parsed = parseJson(data)
  if ('reason' in parsed) return parsed.reason
  if (!isObject(parsed.value)) return 'not an object'
  return isEvent(parsed.value) ? parsed.value : 'type must be a string'
}

/** For a value from JSON.parse, whose fields are JSON. */
function isEvent(value: Readonly<Record<string, unknown>>): value is AgUiEvent & Readonly<Record<string, unknown>> {
  return typeof value.type === 'string'
}
