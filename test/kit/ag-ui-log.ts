// Logs written by hand, and what AG-UI clients receive of them.

import {
  type AdkEvent,
  type AdkPart,
  agUi,
  type EncoderOptions,
  type Frame,
  type Recorded,
  type RunEvent,
  type RunInput,
} from '@millrace/core'
import { accepted } from './ag-ui-official.ts'

export const begin = (input: Partial<RunInput> = {}, more: object = {}): RunEvent => ({
  kind: 'run.started',
  agent: 'assistant',
  input: { messages: [], ...input },
  ...more,
})
export const end = (more: object = {}): RunEvent => ({ kind: 'run.finished', outcome: 'done', ...more }) as RunEvent

let events = 0
export interface Said extends Partial<Omit<AdkEvent, 'content'>> {
  readonly node?: string
  readonly task?: string
}
export function said(message: string, parts: readonly AdkPart[], { node, task, ...more }: Said = {}): RunEvent {
  const event = {
    id: `e${++events}`,
    author: 'assistant',
    invocationId: 'i',
    timestamp: 1,
    content: { role: 'model', parts },
    ...more,
  }
  return {
    kind: 'agent',
    message,
    event,
    ...(node === undefined ? {} : { node }),
    ...(task === undefined ? {} : { task }),
  }
}
export const delta = (message: string, text: string, more: Said = {}) =>
  said(message, [{ text }], { partial: true, ...more })
export const thought = (message: string, text: string, more: Said = {}) =>
  said(message, [{ text, thought: true }], { partial: true, ...more })
export const call = (id: string, name = 'look', args = {}): AdkPart => ({ functionCall: { id, name, args } })
export const answer = (id: string, response = {}, name = 'look'): AdkPart => ({
  functionResponse: { id, name, response },
})

export const rowsOf = (list: readonly (RunEvent | { run: string; event: RunEvent })[]): Recorded[] =>
  list.map((row, i) => ('kind' in row ? { seq: i + 1, at: i, run: 'r', event: row } : { seq: i + 1, at: i, ...row }))
export function framesOf(rows: readonly Recorded[], options: Partial<EncoderOptions> = {}): Frame[] {
  const encoder = agUi.encoder({ session: 's', ...options })
  return rows.flatMap((row) => encoder.push(row))
}
/** What is printed, between RUN_STARTED and the end of it: the official client must accept the whole. */
export async function printed(
  list: readonly (RunEvent | { run: string; event: RunEvent })[],
  options: Partial<EncoderOptions> = {},
): Promise<Record<string, unknown>[]> {
  const frames = framesOf(rowsOf(list), options)
  await accepted(frames)
  return frames.map((frame) => JSON.parse(frame.data))
}
export const types = async (...list: readonly RunEvent[]): Promise<unknown[]> =>
  (await printed(list)).map(({ type }) => type)
