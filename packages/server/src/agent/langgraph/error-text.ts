/** The text of a tool's error without the stack, which names files of this machine. */
export function errorText(error: unknown): string {
  const text = String(error ?? 'the tool failed')
  const gap = text.indexOf('\n\n')
  return gap !== -1 && /\n +at /.test(text.slice(gap + 2)) ? text.slice(0, gap) : text
}
