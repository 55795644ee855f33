import { type DialectName, dialectNames, dialects } from '../dialect/registry.ts'
import type { Frame } from '../frame/frame.ts'
import { isJsonObject, parseJson } from '../json/json.ts'
import { frameSource } from './frames.ts'
import { detectFraming } from './framing.ts'

/** How much of a recording is examined: characters of its text, then frames. */
const sampleText = 256 * 1024
const sampleFrames = 50

/**
 * The dialect of a recorded stream: the one that recognises most of its first frames, or undefined when none recognises
 * any. A session export of Millrace (JSONL) is `millrace`.
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

/** A JSON document is parsed whole, because half of one holds no event. */
function sampleOf(text: string): { readonly dialect?: DialectName | undefined; readonly frames: readonly Frame[] } {
  const framing = detectFraming(text)
  const frames: Frame[] = []
  const source = frameSource({ takeFrame: (frame) => frames.push(frame) })
  try {
    source.feed(framing === 'document' ? text : text.slice(0, sampleText))
    if (framing !== 'sse') source.end()
    return { dialect: source.about.dialect, frames }
  } catch {
    return { frames: [] }
  }
}

/** The first dialect of the registry that recognises the frame. */
function dialectOf(frame: Frame): DialectName | undefined {
  const parsed = parseJson(frame.data)
  const value = 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined
  return dialectNames.find((name) => dialects[name].recognises(frame, value))
}
