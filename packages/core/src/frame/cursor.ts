/** How far a reader has come: a seq, and the run that it reads, if its id names one. */
export interface Cursor {
  readonly seq: number
  readonly run?: string
}

/**
 * A cursor as an SSE `id`: `7`, or `<run>:7`. The run is percent-encoded, because a header carries only ASCII. No log
 * accepts a run whose name cannot be encoded.
 */
export function printCursor({ seq, run }: Cursor): string {
  return run === undefined ? String(seq) : `${encodeURIComponent(run)}:${seq}`
}

/** Reads both forms; undefined for anything else. */
export function readCursor(text: string): Cursor | undefined {
  const [, prefix, digits = ''] = /^(?:([^\0]+):)?(\d{1,16})$/.exec(text) ?? []
  const seq = Number(digits)
  if (digits === '' || !Number.isSafeInteger(seq)) return undefined
  if (prefix === undefined) return { seq }
  try {
    return { seq, run: decodeURIComponent(prefix) }
  } catch {
    return undefined
  }
}
