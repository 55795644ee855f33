import { adk, printFrame, sseReader } from '@millrace/core'
import { type Row, sideBySide } from './kit/row.ts'

/** How a server's writes reach a client: a socket read is at most this much. */
const chunkSize = 16 * 1024
const turns = 60

/**
 * SSE bytes to normalised, recorded-ready ADK events (TextDecoder, frames, JSON, normalisation, message ids), against
 * JSON.parse alone on the same payloads, already cut into strings. Both flavours of the wire.
 */
export async function bench(): Promise<Row[]> {
  return [row('ADK JS, camelCase, ms', javascript(events())), row('ADK Python, seconds', python(events()))]
}

function row(flavour: string, payloads: readonly string[]): Row {
  const bytes = new TextEncoder().encode(payloads.map((data) => printFrame({ data })).join(''))
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, i) =>
    bytes.subarray(i * chunkSize, (i + 1) * chunkSize),
  )
  let read = 0
  const { ours, peer, ratio } = sideBySide(
    () => {
      const text = new TextDecoder('utf-8', { ignoreBOM: true })
      const reader = sseReader()
      const decoder = adk.decoder({ run: 'r', agent: 'coordinator' })
      read = 0
      for (const chunk of chunks) {
        for (const frame of reader.feed(text.decode(chunk, { stream: true }))) read += decoder.push(frame).length
      }
    },
    () => {
      let found = 0
      for (const data of payloads) if (JSON.parse(data) !== undefined) found++
      if (found !== payloads.length) throw new Error('not everything was parsed')
    },
  )
  if (read !== payloads.length + 1) throw new Error(`read ${read} of ${payloads.length} events`)
  const perEvent = (milliseconds: number): number => (milliseconds * 1000) / payloads.length
  return {
    what: `SSE bytes to normalised ADK events (${flavour}), us per event of ${Math.round(bytes.length / payloads.length)} B`,
    ours: perEvent(ours),
    peer: 'JSON.parse alone',
    peerValue: perEvent(peer),
    limit: 'JSON.parse, 1.0x',
    ratio,
    bar: '<= 2, aim 1.5',
    ok: ratio <= 2,
  }
}

/** A run as `/run_sse` streams it: per turn a call, its response, 40 partials and the aggregate; 2 % of words not ASCII. */
function events(): object[] {
  const list: object[] = []
  const add = (event: object): void => {
    const id = `e${list.length.toString(36).padStart(7, '0')}`
    list.push({
      ...event,
      invocationId: 'e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712',
      author: 'coordinator',
      ...common,
      id,
      timestamp: 1767081391059 + list.length,
    })
  }
  for (let turn = 0; turn < turns; turn++) {
    const call = { id: `adk-3ea2f26d-9a45-4d32-8544-${turn.toString().padStart(12, '0')}`, name: 'burn_analyst' }
    add({
      content: { role: 'model', parts: [{ functionCall: { ...call, args: { request: 'cedar-creek-2022' } } }] },
      usageMetadata,
    })
    add({
      content: {
        role: 'user',
        parts: [{ functionResponse: { ...call, response: { result: '**Confidence:** 92%' } } }],
      },
    })
    const words = Array.from({ length: 40 }, (_, i) => (i === 20 ? 'Überblick ' : `word${turn * i} `))
    for (const text of words) add({ content: { role: 'model', parts: [{ text }] }, partial: true })
    add({ content: { role: 'model', parts: [{ text: words.join('') }] }, finishReason: 'STOP', usageMetadata })
  }
  return list
}
const common = {
  actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
  longRunningToolIds: [],
}
const usageMetadata = { promptTokenCount: 5120, candidatesTokenCount: 204, totalTokenCount: 5324 }

function javascript(list: readonly object[]): string[] {
  return list.map((event) => JSON.stringify(event))
}

function python(list: readonly object[]): string[] {
  return list.map((event) =>
    JSON.stringify(event, (key, value) =>
      key === 'timestamp' ? value / 1000 : key === 'longRunningToolIds' ? undefined : value,
    ),
  )
}
