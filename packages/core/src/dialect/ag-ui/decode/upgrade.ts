import type { AgUiEvent } from '../wire.ts'

/**
 * Turns shorthands of AG-UI 1.0 and events that it no longer has into its plain events: `*_CHUNK` into START, CONTENT
 * and END, and the THINKING_* of 0.x into REASONING_*. Every other event passes, after the ENDs of the chunks that it
 * closes.
 */
export interface Upgrade {
  /** The plain events, or why the frame could not be read. */
  push(event: AgUiEvent): readonly AgUiEvent[] | string
  /** The ENDs of messages and calls that chunks left open. */
  end(): readonly AgUiEvent[]
  /** No chunks are open: plain events pass as they are. */
  readonly idle: boolean
}

type Kind = 'text' | 'tool' | 'reasoning'
interface Open {
  readonly kind: Kind
  readonly id: string
  readonly tag: string | undefined
}

const chunkKinds: ReadonlyMap<string, Kind> = new Map([
  ['TEXT_MESSAGE_CHUNK', 'text'],
  ['TOOL_CALL_CHUNK', 'tool'],
  ['REASONING_MESSAGE_CHUNK', 'reasoning'],
])
const plain = {
  text: { id: 'messageId', start: 'TEXT_MESSAGE_START', content: 'TEXT_MESSAGE_CONTENT', end: 'TEXT_MESSAGE_END' },
  tool: { id: 'toolCallId', start: 'TOOL_CALL_START', content: 'TOOL_CALL_ARGS', end: 'TOOL_CALL_END' },
  reasoning: {
    id: 'messageId',
    start: 'REASONING_MESSAGE_START',
    content: 'REASONING_MESSAGE_CONTENT',
    end: 'REASONING_MESSAGE_END',
  },
} as const
/** These are not part of a text, so they do not end the chunks of a lane. */
const passing = new Set(['RAW', 'ACTIVITY_SNAPSHOT', 'ACTIVITY_DELTA', 'REASONING_ENCRYPTED_VALUE', 'SUBAGENT_STARTED'])
/** These are about the whole run, so they end the chunks of every lane. */
const whole = new Set(['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR', 'MESSAGES_SNAPSHOT'])

export function upgrade(run: string): Upgrade {
  /** One open chunk stream per lane: per subagent, and one for the agent itself. */
  const lanes = new Map<string | undefined, Open>()
  /** The same by their ids. An id is open in one lane at most. */
  const open: Readonly<Record<Kind, Map<string, Open>>> = { text: new Map(), tool: new Map(), reasoning: new Map() }
  const thinking = thinkingUpgrade(run)

  const close = (lane: Open | undefined): readonly AgUiEvent[] => {
    if (lane === undefined) return []
    const { kind, id, tag } = lane
    lanes.delete(tag)
    open[kind].delete(id)
    return [{ type: plain[kind].end, [plain[kind].id]: id, ...tagged(tag) }]
  }
  /** A chunk with an id continues that id; one without continues its own lane, or the only open one. */
  const laneOf = (kind: Kind, id: unknown, tag: unknown): Open | undefined => {
    if (typeof id === 'string') return open[kind].get(id)
    const own = lanes.get(stringOr(tag))
    if (own?.kind === kind) return own
    return tag === undefined && open[kind].size === 1 ? [...open[kind].values()][0] : undefined
  }
  const closeAll = (): readonly AgUiEvent[] => [...lanes.values()].flatMap(close)

  const chunk = (kind: Kind, event: AgUiEvent): readonly AgUiEvent[] | string => {
    const names = plain[kind]
    const { type: _, delta, [names.id]: id, ...fields } = event
    const lane = laneOf(kind, id, event.subagentRunId)
    const same = lane !== undefined && (id === undefined || id === lane.id)
    if (!same && typeof id !== 'string') return `a first chunk must have a ${names.id}`
    if (kind === 'tool' && !same && typeof event.toolCallName !== 'string')
      return 'a first chunk must have a toolCallName'
    if (delta !== undefined && typeof delta !== 'string') return 'delta must be a string'
    const made: AgUiEvent[] = []
    const tag = same ? lane.tag : stringOr(event.subagentRunId)
    if (!same) {
      made.push(...close(lanes.get(tag)))
      const { timestamp: _at, rawEvent: _raw, metadata: _meta, ...opener } = fields
      const role = kind === 'reasoning' ? { role: 'reasoning' } : {}
      made.push({ type: names.start, [names.id]: id, ...role, ...(delta === undefined ? fields : opener) })
      const opened = { kind, id: String(id), tag }
      lanes.set(tag, opened)
      open[kind].set(opened.id, opened)
    }
    if (delta !== undefined) made.push(content(names, same ? lane.id : String(id), delta, tag, event))
    return made
  }

  return {
    push(event) {
      const kind = chunkKinds.get(event.type)
      if (kind !== undefined) return chunk(kind, event)
      const current = thinking(event)
      if (passing.has(current.type)) return [current]
      if (lanes.size === 0) return [current]
      const before = whole.has(current.type) ? closeAll() : close(lanes.get(stringOr(current.subagentRunId)))
      return [...before, current]
    },
    end: closeAll,
    get idle() {
      return lanes.size === 0
    },
  }
}

/** The content event of a chunk. It carries the provider's payload and the metadata, as in the official client. */
function content(
  names: (typeof plain)[Kind],
  id: string,
  delta: string,
  tag: string | undefined,
  chunk: AgUiEvent,
): AgUiEvent {
  const { timestamp, rawEvent, metadata } = chunk
  return { type: names.content, [names.id]: id, delta, ...tagged(tag), timestamp, rawEvent, metadata }
}

function tagged(tag: string | undefined): { readonly subagentRunId?: string } {
  return tag === undefined ? {} : { subagentRunId: tag }
}

function stringOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** THINKING_* had no ids, so they are numbered per run. Their title has no field in 1.0 and goes to the metadata. */
function thinkingUpgrade(first: string): (event: AgUiEvent) => AgUiEvent {
  let run = first
  let count = 0
  let span = ''
  let message = ''
  const next = (): string => `${run}:thinking-${++count}`
  return (event) => {
    switch (event.type) {
      case 'RUN_STARTED':
        run = stringOr(event.runId) ?? run
        return event
      case 'THINKING_START': {
        const { type: _, title, metadata, ...rest } = event
        span = next()
        message = ''
        const titled = title === undefined || title === null ? metadata : { ...objectOr(metadata), title }
        return { type: 'REASONING_START', messageId: span, ...rest, metadata: titled }
      }
      case 'THINKING_END':
        return { ...event, type: 'REASONING_END', messageId: span }
      case 'THINKING_TEXT_MESSAGE_START':
        message = message === '' && span !== '' ? span : next()
        return { ...event, type: 'REASONING_MESSAGE_START', messageId: message, role: 'reasoning' }
      case 'THINKING_TEXT_MESSAGE_CONTENT':
        return { ...event, type: 'REASONING_MESSAGE_CONTENT', messageId: message }
      case 'THINKING_TEXT_MESSAGE_END':
        return { ...event, type: 'REASONING_MESSAGE_END', messageId: message }
      default:
        return event
    }
  }
}

function objectOr(value: unknown): Readonly<Record<string, never>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
