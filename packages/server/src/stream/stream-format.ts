import {
  type Dialect,
  type Encoder,
  type EncoderOptions,
  type Frame,
  printFrame,
  type RawRecorded,
} from '@millrace/core'

/** How events become bytes for one kind of reader: a dialect, and how its frames are printed. */
export interface StreamFormat {
  encoder(options: EncoderOptions): Encoder
  print(frame: Frame): string | Uint8Array
  /** What `encoder` and `print` make of a row, from its stored text: where the dialect need not look inside. */
  printRaw?(row: RawRecorded): string
  /** Sent once, before anything else; empty for nothing. */
  readonly opening: string | Uint8Array
  /** Sent while nothing else is, so that proxies keep the connection; empty for never. */
  readonly heartbeat: string | Uint8Array
}

export interface SseFormatOptions extends Pick<EncoderOptions, 'echo' | 'protocol'> {
  /** How long a browser waits before it comes back, in milliseconds. */
  readonly retry?: number
}

/** A dialect over Server-Sent Events. */
export function sseFormat(dialect: Dialect, { retry = 1000, ...own }: SseFormatOptions = {}): StreamFormat {
  const data = dialect.printRaw
  return {
    ...(data === undefined ? {} : { printRaw: (row) => `id: ${row.seq}\ndata: ${data(row)}\n\n` }),
    encoder: (options) => dialect.encoder({ ...options, ...own }),
    print: printFrame,
    opening: `retry: ${retry}\n\n`,
    heartbeat: ': heartbeat\n\n',
  }
}
