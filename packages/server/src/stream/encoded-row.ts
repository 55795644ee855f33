/**
 * Bytes for readers, made once and shared by all of them. The HTTP/1.1 chunk framing is made here too: made for each
 * reader, it is why `response.write` costs 1.5 times a bare socket write (measured).
 */
export interface Bytes {
  readonly plain: Buffer
  /** The same bytes as one HTTP chunk (or several, where pieces were joined). */
  readonly chunked: Buffer
  /** About how many bytes there are. For text it counts UTF-16 units, because counting bytes would flatten the string. */
  readonly size: number
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

const nothing = Buffer.alloc(0)

/** No bytes: what `run.finished` prints in a dialect that has no frame for it. */
export const noBytes: Bytes = { plain: nothing, chunked: nothing, size: 0 }

/** Empty content gives no bytes at all: an empty HTTP chunk would end the response. */
export function bytesOf(content: string | Uint8Array): Bytes {
  if (typeof content === 'string') return content === '' ? noBytes : new TextBytes(content)
  if (content.length === 0) return noBytes
  const chunked = Buffer.concat([Buffer.from(sizeLine(content.length), 'latin1'), content, lineEnd])
  return { chunked, size: chunked.length, plain: chunked.subarray(chunked.length - content.length - 2, -2) }
}

const lineEnd = Buffer.from('\r\n', 'latin1')
const sizeLine = (length: number): string => `${length.toString(16)}\r\n`

/**
 * Text whose bytes are made on demand: most rows go to their readers together with others, as the bytes of one joined
 * text, and a Buffer for each of them would be most of the work and of the garbage.
 */
class TextBytes implements Bytes {
  readonly text: string
  #chunked: Buffer | undefined

  constructor(text: string) {
    this.text = text
  }

  get size(): number {
    return this.text.length
  }

  get chunked(): Buffer {
    this.#chunked ??= this.#make()
    return this.#chunked
  }

  /** Few readers need it: those of HTTP/1.0. */
  get plain(): Buffer {
    return this.chunked.subarray(this.chunked.indexOf(10) + 1, -2)
  }

  #make(): Buffer {
    const length = Buffer.byteLength(this.text)
    const line = sizeLine(length)
    const chunked = Buffer.allocUnsafe(line.length + length + 2)
    // Three writes, because joining them would copy the text once more.
    chunked.write(line, 0, 'latin1')
    chunked.write(this.text, line.length, 'utf8')
    chunked.write('\r\n', line.length + length, 'latin1')
    return chunked
  }
}

export function joinBytes(parts: readonly Bytes[]): Bytes {
  const [only] = parts
  if (only === undefined) return noBytes
  if (parts.length === 1) return only
  let text = ''
  for (const part of parts) {
    if (!(part instanceof TextBytes)) return joinBuffers(parts)
    text += part.text
  }
  return new TextBytes(text)
}

function joinBuffers(parts: readonly Bytes[]): Bytes {
  const chunked = Buffer.concat(parts.map((part) => part.chunked))
  let plain: Buffer | undefined
  return {
    chunked,
    size: chunked.length,
    /** Only HTTP/1.0 readers need it, so it is joined on demand. */
    get plain() {
      plain ??= Buffer.concat(parts.map((part) => part.plain))
      return plain
    },
  }
}
