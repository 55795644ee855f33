import {
  applyState,
  type Draft,
  type Frame,
  type JsonObject,
  type Recorded,
  type RunEvent,
  studio,
} from '@millrace/core'
import { recorded } from '@millrace/core/testing'

// Short words for the tests of the studio dialect: frames to events, events to rows, and what a client would show.

export const decode = (frames: readonly Frame[], how: 'closed' | 'cut' = 'closed'): readonly Draft[] => {
  const decoder = studio.decoder({ run: 'r' })
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end(how)]
}
export const events = (frames: readonly Frame[]): readonly RunEvent[] => decode(frames).map(({ event }) => event)
export const rows = (list: readonly RunEvent[]): readonly Recorded[] =>
  recorded(list.map((event) => ({ run: 'r', event })))
export const chunk = (data: string): Frame => ({ event: 'chunk', data })
export const begun: RunEvent = { kind: 'run.started', agent: 'lead', input: { messages: [] } }
export const ended: RunEvent = { kind: 'run.finished', outcome: 'done' }

export function said(
  author: string,
  text: string,
  more: { partial?: boolean; message?: string; branch?: string } = {},
): RunEvent {
  const { message = `${author}-1`, ...event } = more
  const content = { role: 'model', parts: [{ text }] }
  return { kind: 'agent', event: { id: message, author, invocationId: 'i', timestamp: 1, content, ...event }, message }
}

export const traces = (frames: readonly Frame[]): JsonObject[] =>
  frames.filter(({ event }) => event === 'trace').map(({ data }) => JSON.parse(data))
export const textOf = (list: readonly RunEvent[]): string =>
  list
    .flatMap((event) =>
      event.kind === 'agent' && event.event.partial !== true ? (event.event.content?.parts ?? []) : [],
    )
    .map((part) => (part.thought === true ? '' : (part.text ?? '')))
    .join('')

export function foldState(list: readonly RunEvent[]): JsonObject {
  return list.reduce<JsonObject>((state, event) => applyState(state, event), {})
}
