import { stem } from './stem.ts'

/**
 * ROUGE-1: how many words two texts share, as the harmonic mean of precision and recall, from 0 to 1. Words are tokenized
 * and stemmed as in the `rouge_score` library, by which ADK scores responses.
 */
export function rouge1(actual: string, expected: string): number {
  const made = counted(wordsOf(actual))
  const wanted = counted(wordsOf(expected))
  const total = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0)
  let shared = 0
  for (const [word, count] of wanted) shared += Math.min(count, made.get(word) ?? 0)
  if (shared === 0) return 0
  const precision = shared / total(made)
  const recall = shared / total(wanted)
  return (2 * precision * recall) / (precision + recall)
}

/** Lower-case words of letters and digits; short words are not stemmed. */
function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.map((word) => (word.length > 3 ? stem(word) : word))
}

function counted(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
