/** One key as a segment of a JSON Pointer (RFC 6901), slash included: `a/b` becomes `/a~1b`. */
export function pointerSegment(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The keys of a JSON Pointer that is empty or begins with a slash. */
export function pointerKeys(path: string): string[] {
  if (path === '') return []
  return path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
