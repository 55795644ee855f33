import { type Dialect, type Encoder, type EncoderOptions, type Frame, printFrame } from '@millrace/core'

/** How events become bytes for one kind of reader: a dialect, and how its frames are printed. */
export interface Wire {
  encoder(options: EncoderOptions): Encoder
  print(frame: Frame): string | Uint8Array
  /** Sent once, before anything else; empty for nothing. */
  readonly opening: string | Uint8Array
  /** Sent while nothing else is, so that proxies keep the connection; empty for never. */
  readonly heartbeat: string | Uint8Array
}

/** A dialect over Server-Sent Events. `retry` is how long a browser waits before it comes back, in milliseconds. */
export function sseWire(dialect: Dialect, retry = 1000): Wire {
  return {
    encoder: (options) => dialect.encoder(options),
    print: printFrame,
    opening: `retry: ${retry}\n\n`,
    heartbeat: ': heartbeat\n\n',
  }
}
