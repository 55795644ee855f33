import {
  type Cursor,
  type Dialect,
  type Encoder,
  type EncoderOptions,
  type Frame,
  printCursor,
  printFrame,
  type RawRecorded,
} from '@millrace/core'

/** How events become bytes for one kind of reader: a dialect, and how its frames are printed. */
export interface StreamFormat {
  encoder(options: EncoderOptions): Encoder
  /** Whether `encoder` can begin with the facts of a session, where a run begins. */
  readonly fromFacts?: boolean
  print(frame: Frame): string | Uint8Array
  /** Prints the only frame of a row, with its seq as the id; absent where ids are made in another way. */
  printOne?(frame: Frame, seq: number): string
  /** The same for data that is known to be one line. */
  printLine?(data: string, seq: number): string
  /** What `encoder` and `print` make of a row, from its stored text; absent where the dialect must look inside. */
  printRaw?(row: RawRecorded): string
  /** Sent once, before anything else; may be empty. */
  readonly opening: string | Uint8Array
  /** Prints the SSE `id` for a cursor; absent: the id is the seq. */
  readonly cursor?: (cursor: Cursor) => string
  /** Sent in silence, so that proxies keep the connection; nothing is sent when empty. */
  readonly heartbeat: string | Uint8Array
}

export interface SseFormatOptions
  extends Pick<EncoderOptions, 'echo' | 'protocol' | 'questions' | 'chunks' | 'endsAtQuestion'> {
  /** How long a browser waits before it reconnects, in milliseconds. */
  readonly retry?: number
  /** Ids name their run: a browser that reconnects to the GET that started a run sends nothing but the last id. */
  readonly namesRun?: boolean
}

/** A dialect over Server-Sent Events. */
export function sseFormat(
  dialect: Dialect,
  { retry = 1000, namesRun = false, ...own }: SseFormatOptions = {},
): StreamFormat {
  const data = dialect.printRaw
  return {
    ...(data === undefined || namesRun ? {} : { printRaw: (row) => `id: ${row.seq}\ndata: ${data(row)}\n\n` }),
    encoder: (options) => dialect.encoder({ ...options, ...own }),
    fromFacts: dialect.fromFacts === true,
    print: printFrame,
    ...(namesRun ? {} : { printOne: printWithSeq, printLine }),
    ...(namesRun ? { cursor: printCursor } : {}),
    opening: `retry: ${retry}\n\n`,
    heartbeat: ': heartbeat\n\n',
  }
}

const printLine = (data: string, seq: number): string => `id: ${seq}\ndata: ${data}\n\n`

/** Most frames are one line of data. */
function printWithSeq(frame: Frame, seq: number): string {
  const { data, event, id, comment } = frame
  const isPlain = event === undefined && id === undefined && comment === undefined && !/[\r\n]/.test(data)
  return isPlain ? printLine(data, seq) : printFrame({ ...frame, id: String(seq) })
}
