import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts'

/** How the text of a recording is cut into frames: SSE, one JSON value a line, or one JSON document with all of them. */
export type Framing = 'sse' | 'lines' | 'document'

/** No line of SSE begins with a bracket. What begins with one is lines of JSON, a list, or an ADK session. */
export function detectFraming(text: string): Framing {
  return framingOf(text, true) ?? 'lines'
}

/** As `detectFraming` for the beginning of a text; undefined while more of it must be seen. */
export function framingOf(text: string, over: boolean): Framing | undefined {
  const start = text.search(/[^\uFEFF\s]/)
  if (start === -1) return over ? 'sse' : undefined
  if (text[start] === '[') return 'document'
  if (text[start] !== '{') return 'sse'
  const first = lineAt(text, start, over)
  if (first === undefined) return undefined
  const value = objectIn(first.text)
  if (value !== undefined) return isEnvelope(value) ? 'document' : 'lines'
  // Its first line is no JSON: a document over many lines, unless the second line is whole, then the first is damaged.
  const second = lineAt(text, first.end, over)
  if (second === undefined) return over ? 'document' : undefined
  return objectIn(second.text) === undefined ? 'document' : 'lines'
}

/** The next line that is not blank; undefined where its end is not there yet, or no line is left. */
function lineAt(
  text: string,
  from: number,
  over: boolean,
): { readonly text: string; readonly end: number } | undefined {
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    if (newline === -1 && !over) return undefined
    const end = newline === -1 ? text.length : newline + 1
    const line = text.slice(start, end)
    if (/\S/.test(line)) return { text: line, end }
    start = end
  }
  return undefined
}

function objectIn(line: string): JsonObject | undefined {
  const parsed = parseJson(line)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined
}

/** An ADK session: an object around a list of events. An event of any dialect has an author or a type. */
function isEnvelope({ events, author, type }: JsonObject): boolean {
  return Array.isArray(events) && author === undefined && type === undefined
}
