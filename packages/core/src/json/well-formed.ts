/**
 * The text with U+FFFD in the place of halves of surrogate pairs, which no URL, header or UTF-8 can carry: agents may
 * give such names, and `encodeURIComponent` throws on them.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}
