import type { Level } from '../../../event/run-event.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../json/json.ts'
import { argsOf, responseFromResult } from '../../bare-text/message-builder.ts'
import { keepFields } from '../../kept-fields.ts'
import { readObject, type StudioFrameResult, type StudioRun } from './run.ts'

// Reads the frames other than `trace`: those of the schema, and those that only ADK Studio's own server sends.

export function readChunk(run: StudioRun, data: string): StudioFrameResult {
  const speaker = run.speaker()
  const delta = run.chunks.read(speaker.node ?? '', data)
  if (delta === undefined) return 'the chunk repeats the text so far'
  if (delta.restarted !== true) return run.speech.delta(speaker, delta.text)
  return [...run.speech.close(), ...run.speech.delta(speaker, delta.text)]
}

export function readThinking(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return run.speech.delta(run.speaker(), data, true)
  const { content, agent, node_id: id } = parsed
  if (typeof content !== 'string') return 'thinking has no content'
  const speaker = id === undefined && typeof agent === 'string' ? run.speaker(agent) : run.speakerOf(parsed)
  return run.speech.delta(speaker, content, true)
}

/**
 * From here on text is of this node. This keeps parallel nodes apart on a wire whose text carries no name. Where it is
 * of this node already, another message of the node begins.
 */
export function readSpeaker(run: StudioRun, data: string): StudioFrameResult {
  const { speaker } = run.nodes
  const node = run.nodes.get(data) ?? run.nodes.named(data)
  if (node?.id === speaker?.id && (node !== undefined || data === '')) {
    run.chunks.restart(node?.id ?? '')
    return run.speech.close()
  }
  if (node === undefined) {
    run.author = data
    return 'no node of this name is open'
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
  if (typeof name !== 'string') return 'the tool call has no name'
  const call = run.calls.call(name, typeof id === 'string' ? id : undefined)
  const events = run.speech.call(run.speakerOf(parsed), call.id, name, argsOf(args))
  return keepFields('studio', events, parsed, callFields)
}

export function readToolResult(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { name, result, id } = parsed
  if (typeof name !== 'string') return 'the tool result has no name'
  const call = run.calls.result(name, typeof id === 'string' ? id : undefined)
  const events = run.speech.result(run.speakerOf(parsed), call.id, name, responseFromResult(result ?? null))
  return keepFields('studio', events, parsed, resultFields)
}

export function readLog(run: StudioRun, data: string): StudioFrameResult {
  const parsed = readObject(data)
  if (typeof parsed === 'string') return parsed
  const { message, level, node_id: _, ...rest } = parsed
  if (typeof message !== 'string') return 'the log has no message'
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

/** A line of ADK Studio's debug console, which repeats the facts of the other events as log records. */
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
  if (typeof name !== 'string') return 'the interrupt has no node_id'
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
  if (interrupt === undefined) return 'no question is open'
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
