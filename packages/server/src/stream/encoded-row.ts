/**
 * Bytes for readers, made once and shared by all of them. The HTTP/1.1 chunk framing is computed here too, because
 * writing it per reader is what makes `response.write` cost 1.5x a bare socket write (performance.md C1).
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
  /** The run it belongs to; for what a person did meanwhile, the run that was open. */
  readonly run: string
  /** The run's terminal event: a reader of that run is done once it has this. */
  readonly terminal: boolean
}

/** No bytes: what a terminal event prints in a dialect without a sign for it. */
export const noBytes: Bytes = { plain: Buffer.alloc(0), chunked: Buffer.alloc(0) }

/** No bytes stay no bytes: an empty HTTP chunk would end the response. */
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
  return new Chunk(chunked, start)
}

/** A second Buffer for each event is what a replay's garbage collector would mostly see: few readers need it. */
class Chunk implements Bytes {
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
    /** Few readers speak HTTP/1.0: joined for them on demand. */
    get plain() {
      plain ??= Buffer.concat(parts.map((part) => part.plain))
      return plain
    },
  }
}
