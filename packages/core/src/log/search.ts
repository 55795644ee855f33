import type { Recorded, RunEvent } from '../event/run-event.ts'
import { isPartial } from '../event/streaming.ts'

/** More words than this make a search slower and no better. */
const mostWords = 64
const defaultLimit = 50
const mostFound = 500

/** The words of a text, in lower case, each once. */
export function wordsIn(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
}

/** The words to search for. */
export function searchWords(text: string): readonly string[] {
  return wordsIn(text).slice(0, mostWords)
}

export function searchLimit(limit = defaultLimit): number {
  return Math.min(mostFound, Math.max(1, Math.floor(limit)))
}

/** The text by which a row is found: what a user or an agent said, whole. Undefined for every other row. */
export function searchedText(event: RunEvent): string | undefined {
  if (event.kind === 'run.started') {
    const said = event.input.messages.filter(({ role }) => role === 'user')
    return textsOf(said.flatMap(({ content }) => content.parts ?? []))
  }
  if (event.kind !== 'agent' || isPartial(event.event)) return undefined
  return textsOf(event.event.content?.parts ?? [])
}

function textsOf(parts: readonly { readonly text?: string }[]): string {
  return parts.flatMap(({ text }) => text ?? []).join(' ')
}

/** How many of the words the row has. */
export function searchScore(words: readonly string[], { event }: Recorded): number {
  const text = searchedText(event)
  if (text === undefined || text === '') return 0
  const own = new Set(wordsIn(text))
  return words.filter((word) => own.has(word)).length
}
