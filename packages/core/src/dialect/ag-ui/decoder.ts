import type { Draft } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isObject, parseJson } from '../../json/json.ts'
import type { Decoder, DecoderOptions } from '../dialect.ts'
import { factHandlers } from './decode/fact.ts'
import { emptySpan, messageHandlers, readToken } from './decode/message.ts'
import { runHandlers } from './decode/run.ts'
import { DecoderState, type Handler, ignored } from './decode/state.ts'
import { upgrade } from './decode/upgrade.ts'
import type { AgUiEvent } from './wire.ts'

const handlers: ReadonlyMap<string, Handler> = new Map(
  Object.entries({ ...runHandlers, ...messageHandlers, ...factHandlers }),
)

/**
 * AG-UI events to canonical ones. A run ends only by its RUN_FINISHED or RUN_ERROR: when the bytes just stop, nothing
 * is made up (the problems view tells that the end is missing), but a cut is a failure (SPEC 3.6).
 */
export function agUiDecoder({ run, agent = 'assistant' }: DecoderOptions): Decoder {
  const reading = new DecoderState(run, agent)
  const plain = upgrade(run)

  const take = (event: AgUiEvent): string | undefined => {
    const handle = handlers.get(event.type)
    if (handle === undefined) return `unknown event ${event.type}`
    if (reading.held.size > 0 && !event.type.startsWith('REASONING_')) flushSpans(reading)
    const wrong = handle(event, reading)
    if (wrong === undefined) reading.document.apply(event)
    return wrong
  }
  const foreign = (frame: Frame, reason: string): void =>
    reading.emit({ kind: 'foreign', dialect: 'ag-ui', raw: frame.data, reason }, ignored)
  const drafts = (): readonly Draft[] => {
    const made = reading.drafts
    reading.drafts = []
    return made
  }

  return {
    get session() {
      return reading.session
    },
    push(frame) {
      if (frame.data === '') return []
      const event = frame.truncated === true ? 'longer than a frame may be' : wireOf(frame.data)
      if (typeof event !== 'string' && plain.idle && readToken(event, reading)) return drafts()
      const events = typeof event === 'string' ? event : plain.push(event)
      if (typeof events === 'string') foreign(frame, events)
      else {
        for (const one of events) {
          const wrong = take(one)
          if (wrong !== undefined) foreign(frame, wrong)
        }
      }
      return drafts()
    },
    end(how) {
      for (const event of plain.end()) take(event)
      flushSpans(reading)
      if (how === 'cut' && reading.active) {
        const error = { code: 'cut', message: 'the stream broke off' } as const
        reading.emit({ kind: 'run.finished', outcome: 'failed', error }, ignored)
      }
      return drafts()
    },
  }
}

/** A span that anything else than its message follows was an empty one, or still waits for its first. */
function flushSpans(reading: DecoderState): void {
  for (const span of reading.held) emptySpan(reading, span)
}

function wireOf(data: string): AgUiEvent | string {
  const parsed = parseJson(data)
  if ('reason' in parsed) return parsed.reason
  if (!isObject(parsed.value)) return 'not an object'
  return isWire(parsed.value) ? parsed.value : 'type must be a string'
}

/** Of what JSON.parse gave. */
function isWire(value: Readonly<Record<string, unknown>>): value is AgUiEvent & Readonly<Record<string, unknown>> {
  return typeof value.type === 'string'
}
