/** Decodes UTF-8 that comes in pieces. */
export interface Utf8Reader {
  /** The text of these bytes. A character that is cut at the end is held back until the rest of it comes. */
  feed(bytes: Uint8Array): string
  /** What a character that never became whole is read as. */
  end(): string
}

const replacement = '\ufffd'
/** A call can take only so many arguments. */
const most = 8192

/**
 * Reads as `TextDecoder` with `ignoreBOM` does, without being a global of the browser. A byte that cannot be part of a
 * character becomes U+FFFD, as the encoding standard asks: one for each longest piece that could still have been one.
 */
export function utf8Reader(): Utf8Reader {
  let point = 0
  let needed = 0
  let lower = 0x80
  let upper = 0xbf
  const open = (bits: number, more: number, from = 0x80, to = 0xbf): void => {
    point = bits
    needed = more
    lower = from
    upper = to
  }
  return {
    feed(bytes) {
      let text = ''
      let units: number[] = []
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at] ?? 0
        if (needed > 0) {
          if (byte < lower || byte > upper) {
            open(0, 0)
            units.push(0xfffd)
            at -= 1 // the byte may begin the next character
            continue
          }
          lower = 0x80
          upper = 0xbf
          point = (point << 6) | (byte & 0x3f)
          needed -= 1
          if (needed > 0) continue
          if (point > 0xffff) units.push(0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff))
          else units.push(point)
        } else if (byte < 0x80) units.push(byte)
        else if (byte >= 0xc2 && byte <= 0xdf) open(byte & 0x1f, 1)
        // No overlong forms, no surrogates, nothing beyond U+10FFFF: the second byte is bounded.
        else if (byte >= 0xe0 && byte <= 0xef)
          open(byte & 0xf, 2, byte === 0xe0 ? 0xa0 : 0x80, byte === 0xed ? 0x9f : 0xbf)
        else if (byte >= 0xf0 && byte <= 0xf4)
          open(byte & 0x7, 3, byte === 0xf0 ? 0x90 : 0x80, byte === 0xf4 ? 0x8f : 0xbf)
        else units.push(0xfffd)
        if (units.length >= most) {
          text += String.fromCharCode(...units)
          units = []
        }
      }
      return text + String.fromCharCode(...units)
    },
    end() {
      const cut = needed > 0
      open(0, 0)
      return cut ? replacement : ''
    },
  }
}
