/** The JSON Pointer (RFC 6901) to a top-level key. */
export function pointerTo(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
