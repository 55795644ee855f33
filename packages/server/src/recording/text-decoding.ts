import { MillraceError } from '@millrace/core'

/** Bytes to text, in pieces; without bytes, the end. */
export function textDecoding(isStrict: boolean): (bytes?: Uint8Array) => string {
  const decoder = new TextDecoder('utf-8', { fatal: isStrict })
  return (bytes) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new MillraceError('invalid', 'the body is not valid UTF-8', { http: 'invalid' })
    }
  }
}
