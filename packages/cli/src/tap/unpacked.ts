import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** Reads what a server sent, beside the bytes that are passed on. */
export interface Unpacked {
  push(chunk: Uint8Array): void
  /** Calls `done` when all that came is read. */
  end(done: () => void): void
}

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Some servers compress a stream that was asked for plain. The client gets those bytes, and `read` gets the text in them. */
export function unpacked(encoding: string | undefined, read: (chunk: Uint8Array) => void): Unpacked {
  const unpacker = unpackers[encoding?.trim().toLowerCase() ?? '']?.()
  if (unpacker === undefined) return { push: read, end: (done) => done() }
  // What cannot be unpacked ends the reading; the client has its bytes all the same.
  unpacker.on('data', read).on('error', () => {})
  return {
    push(chunk) {
      if (!unpacker.destroyed) unpacker.write(chunk)
    },
    end(done) {
      if (unpacker.destroyed) return done()
      unpacker.once('close', done)
      unpacker.end()
    },
  }
}
