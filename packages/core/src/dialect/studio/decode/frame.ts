import type { Level } from '../../../event/run-event.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../json/json.ts'
import { argsOf, responseFromResult } from '../../bare-text/message-builder.ts'
import { keepFields } from '../../kept-fields.ts'
import { readObject, type StudioFrameResult, type StudioRun } from './run.ts'

// What the frames other than `trace` mean: those of seed 000, and those that only ADK Studio's real server sends.

export function readChunk(run: StudioRun, data: string): StudioFrameResult {
  const delta = run.chunks.read(data)
  if (delta === undefined) return 'repeats the text so far'
  const closed = delta.sign === 'anew' ? run.speech.close() : []
  const said = [...closed, ...run.speech.delta(run.speaker(), delta.text)]
  if (delta.sign !== 'cumulative') return said
  // A linter could not see it any more: what it would complain of has been put right here.
  return [{ kind: 'log', level: 'warn', message: 'chunks repeat the text so far: read as deltas' }, ...said]
}

export function readThinking(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return run.speech.delta(run.speaker(), data, true)
  const { content, agent, node_id: id } = parsed
  if (typeof content !== 'string') return 'thinking without content'
  const speaker = id === undefined && typeof agent === 'string' ? run.speaker(agent) : run.speakerOf(parsed)
  return run.speech.delta(speaker, content, true)
}

/** From here on text is this node's: how parallel nodes stay apart on a wire whose text carries no name. */
export function readSpeaker(run: StudioRun, data: string): StudioFrameResult {
  const node = run.nodes.get(data) ?? run.nodes.named(data)
  if (node === undefined) {
    run.author = data
    return 'names no open node'
  }
  run.nodes.speak(node.id)
  return []
}

const callFields = new Set(['name', 'args', 'id', 'node_id'])
const resultFields = new Set(['name', 'result', 'id', 'node_id'])

export function readToolCall(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { name, args, id } = parsed
  if (typeof name !== 'string') return 'a tool call without name'
  const call = run.calls.call(name, typeof id === 'string' ? id : undefined)
  const events = run.speech.call(run.speakerOf(parsed), call.id, name, argsOf(args))
  return keepFields('studio', events, parsed, callFields)
}

export function readToolResult(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { name, result, id } = parsed
  if (typeof name !== 'string') return 'a tool result without name'
  const call = run.calls.result(name, typeof id === 'string' ? id : undefined)
  const events = run.speech.result(run.speakerOf(parsed), call.id, name, responseFromResult(result ?? null))
  return keepFields('studio', events, parsed, resultFields)
}

export function readLog(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { message, level, node_id: _, ...rest } = parsed
  if (typeof message !== 'string') return 'a log without message'
  const node = run.speakerOf(parsed).node
  const known = levelOf(level)
  return [
    {
      kind: 'log',
      level: known ?? 'info',
      message,
      ...(node === undefined ? {} : { node }),
      ...facts(known === undefined && level !== undefined ? { ...rest, level } : rest),
      ...(known === 'debug' ? { extra: { studio: { event: 'log' } } } : {}),
    },
  ]
}

function facts(data: JsonObject): { data?: Json } {
  return Object.keys(data).length === 0 ? {} : { data }
}

/** ADK Studio's debug console: the same facts as the other events, once more, as log records. */
export function readDebug(run: StudioRun, data: string): StudioFrameResult {
  run.chunks.sign('upstream')
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { level, summary } = parsed
  return [
    {
      kind: 'log',
      level: levelOf(level) ?? 'debug',
      message: typeof summary === 'string' ? summary : '',
      data: parsed,
      extra: { studio: { event: 'debug' } },
    },
  ]
}

function levelOf(level: Json | undefined): Level | undefined {
  switch (level) {
    case 'debug':
    case 'info':
    case 'warn':
    case 'error':
      return level
    default:
      return undefined
  }
}

export function readInterrupt(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { node_id: name, message, data: payload, id, reason, call, schema, expires_at: expiresAt } = parsed
  if (typeof name !== 'string') return 'an interrupt without node_id'
  const event = run.interrupted(name, {
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof call === 'string' ? { call } : {}),
    ...(isJsonObject(schema) ? { schema } : {}),
    ...(payload === undefined ? {} : { payload }),
    ...(typeof expiresAt === 'string' ? { expiresAt } : {}),
  })
  const { thread_id, checkpoint_id } = parsed
  if (thread_id === undefined || checkpoint_id === undefined) return [event]
  return [{ ...event, extra: { studio: { thread_id, checkpoint_id } } }]
}

export function readResume(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { node_id: name, id, status, response } = parsed
  const interrupt = typeof id === 'string' ? id : run.interrupts.latest(typeof name === 'string' ? name : '')
  if (interrupt === undefined) return 'nothing waits to be resumed'
  run.interrupts.answer(interrupt)
  return [
    {
      kind: 'resumed',
      interrupt,
      status: status === 'cancelled' ? 'cancelled' : 'resolved',
      ...(response === undefined ? {} : { payload: response }),
    },
  ]
}
