import type { DialectName } from '../dialect/dialect.ts'
import type { Frame } from '../frame/frame.ts'
import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts'
import { frameSource } from './frames.ts'
import { detectFraming } from './framing.ts'

/** How much of a text is looked at. */
const sampleText = 256 * 1024
const sampleFrames = 50

/**
 * Which dialect a recorded stream speaks, by what only one of them says; undefined when nothing says it. A session
 * export of Millrace (JSONL) is `millrace`.
 */
export function detectDialect(recording: string | readonly Frame[]): DialectName | undefined {
  const { dialect, frames } = typeof recording === 'string' ? sampleOf(recording) : { frames: recording }
  if (dialect !== undefined) return dialect
  const votes = new Map<DialectName, number>()
  for (const frame of frames.slice(0, sampleFrames)) {
    const name = dialectOf(frame)
    if (name !== undefined) votes.set(name, (votes.get(name) ?? 0) + 1)
  }
  let best: DialectName | undefined
  for (const [name, count] of votes) if (best === undefined || count > (votes.get(best) ?? 0)) best = name
  return best
}

/** A document shows its events only whole. */
function sampleOf(text: string): { readonly dialect?: DialectName | undefined; readonly frames: readonly Frame[] } {
  const framing = detectFraming(text)
  const source = frameSource()
  try {
    const fed = source.feed(framing === 'document' ? text : text.slice(0, sampleText))
    const placed = framing === 'sse' ? fed : [...fed, ...source.end()]
    return { dialect: source.about.dialect, frames: placed.map(({ frame }) => frame) }
  } catch {
    return { frames: [] }
  }
}

/** The dialect that a frame can only be of. */
function dialectOf({ event, data, comment }: Frame): DialectName | undefined {
  if (comment !== undefined && data === '') return /^run\.(started|finished)\b/.test(comment) ? 'adk' : undefined
  const parsed = parseJson(data)
  if ('reason' in parsed || !isJsonObject(parsed.value)) return studioText.has(event) ? 'studio' : undefined
  return dialectOfObject(event, parsed.value)
}

function dialectOfObject(event: string | undefined, value: JsonObject): DialectName | undefined {
  const { type } = value
  if (isMillrace(value)) return 'millrace'
  if (typeof type === 'string') {
    if (/^[A-Z]+(_[A-Z]+)+$/.test(type)) return 'ag-ui'
    if (planTypes.has(type) && (event === undefined || event === 'message' || event === type)) return 'plan'
  }
  if (studioJson.has(event)) return 'studio'
  if (typeof value.author === 'string' && adkFields.some((field) => value[field] !== undefined)) return 'adk'
  return undefined
}

function isMillrace({ format, seq, at, run, event }: JsonObject): boolean {
  if (format === 'millrace.session') return true
  return typeof seq === 'number' && typeof at === 'number' && typeof run === 'string' && isJsonObject(event)
}

const studioText: ReadonlySet<unknown> = new Set(['session', 'chunk', 'end', 'error'])
const studioJson: ReadonlySet<unknown> = new Set([
  'trace',
  'tool_call',
  'tool_result',
  'log',
  'thinking',
  'debug',
  'interrupt',
])
const planTypes: ReadonlySet<unknown> = new Set([
  'content',
  'tasks_extracting',
  'tasks_updated',
  'task_selected',
  'tool_call',
  'tool_result',
  'artifact_created',
  'data_modified',
  'task_completed',
  'reflection',
  'error',
  'done',
])
const adkFields = ['invocationId', 'invocation_id', 'content', 'actions']
