/** Above this many characters JSON.stringify is faster. */
const short = 48

/** As JSON.stringify of a string. A short text that needs no escapes, as most tokens do, takes a third of the time. */
export function printString(text: string): string {
  if (text.length > short) return JSON.stringify(text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // Control characters, the quote, the backslash, and surrogates, which are escaped where they are no pair.
    if (code < 32 || code === 34 || code === 92 || (code >= 0xd800 && code <= 0xdfff)) return JSON.stringify(text)
  }
  return `"${text}"`
}
