import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** Reads a copy of the bytes that a server sent. */
export interface Unpacked {
  push(chunk: Uint8Array): void
  /** Calls `done` when everything that arrived has been read. */
  end(done: () => void): void
}

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Some servers compress a stream without being asked. The client gets those bytes, and `read` gets the unpacked ones. */
export function unpacked(encoding: string | undefined, read: (chunk: Uint8Array) => void): Unpacked {
  const unpacker = unpackers[encoding?.trim().toLowerCase() ?? '']?.()
  if (unpacker === undefined) return { push: read, end: (done) => done() }
  // If unpacking fails, the recording ends; the client still gets its bytes.
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
