/**
 * Bytes for readers, made once and shared by all of them. The HTTP/1.1 chunk framing is made here too: made for each
 * reader, it is why `response.write` costs 1.5 times a bare socket write (measured).
 */
export interface Bytes {
  readonly plain: Buffer
  /** The same bytes as one HTTP chunk (or several, where pieces were joined). */
  readonly chunked: Buffer
}

/** What one recorded event prints. */
export interface EncodedRow {
  readonly bytes: Bytes
  readonly seq: number
  /** The run it belongs to; for an edit by a person, the run that was open then. */
  readonly run: string
  /** Whether it is `run.finished`: a reader of that run is done once it has this. */
  readonly terminal: boolean
}

/** No bytes: what `run.finished` prints in a dialect that has no frame for it. */
export const noBytes: Bytes = { plain: Buffer.alloc(0), chunked: Buffer.alloc(0) }

/** Empty content gives no bytes at all: an empty HTTP chunk would end the response. */
export function bytesOf(content: string | Uint8Array): Bytes {
  const length = typeof content === 'string' ? Buffer.byteLength(content) : content.length
  if (length === 0) return noBytes
  const size = `${length.toString(16)}\r\n`
  const start = size.length
  const chunked = Buffer.allocUnsafe(start + length + 2)
  if (typeof content === 'string') chunked.write(`${size}${content}\r\n`, 'utf8')
  else {
    chunked.write(size, 0, 'latin1')
    chunked.set(content, start)
    chunked.write('\r\n', start + length, 'latin1')
  }
  return new ChunkedBytes(chunked, start)
}

/** Makes `plain` on demand: few readers need it, and a second Buffer per event would dominate a replay's garbage. */
class ChunkedBytes implements Bytes {
  readonly chunked: Buffer
  readonly #start: number

  constructor(chunked: Buffer, start: number) {
    this.chunked = chunked
    this.#start = start
  }

  get plain(): Buffer {
    return this.chunked.subarray(this.#start, this.chunked.length - 2)
  }
}

export function joinBytes(parts: readonly Bytes[]): Bytes {
  const [only] = parts
  if (only === undefined) return noBytes
  if (parts.length === 1) return only
  let plain: Buffer | undefined
  return {
    chunked: Buffer.concat(parts.map((part) => part.chunked)),
    /** Only HTTP/1.0 readers need it, so it is joined on demand. */
    get plain() {
      plain ??= Buffer.concat(parts.map((part) => part.plain))
      return plain
    },
  }
}
