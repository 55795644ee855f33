import type { Dialect } from '../dialect.ts'
import { millraceDecoder } from './decoder.ts'
import { millraceEncoder } from './encoder.ts'
import { isMillraceFrame, printRow } from './wire.ts'

/**
 * The log itself on a wire: one `Recorded` per frame, with its seq, and nothing lost. Millrace's own clients read it.
 */
export const millrace: Dialect = {
  name: 'millrace',
  decoder: millraceDecoder,
  encoder: millraceEncoder,
  recognises: isMillraceFrame,
  printRaw: ({ seq, at, run, body }) => printRow(seq, at, run, body),
}
