import type { Item, Message } from '@millrace/core'

/** One row of two conversations side by side: the messages that correspond, and how they differ. */
export interface Pairing {
  readonly key: string
  readonly left: Message | undefined
  readonly right: Message | undefined
  readonly kind: 'same' | 'changed' | 'left' | 'right'
}

/** Above this many messages that differ, the longest common subsequence is too expensive: messages are matched in turn. */
const most = 1500

/** Pairs messages of the same author with the same tools, in order and as many as possible. */
export function align(a: readonly Message[], b: readonly Message[]): readonly Pairing[] {
  const pairs: Pairing[] = []
  const put = (left: Message | undefined, right: Message | undefined): void => {
    const key = `${left?.key ?? ''}|${right?.key ?? ''}`
    pairs.push({ key, left, right, kind: kindOf(left, right) })
  }
  const [keysA, keysB] = [a.map(placeKey), b.map(placeKey)]
  let [i, j] = [0, 0]
  // A session that was run on begins as the other did: that part needs no search.
  while (i < a.length && i < b.length && keysA[i] === keysB[i]) put(a[i], b[i++])
  j = i
  const isSmall = a.length - i <= most && b.length - j <= most
  const common = isSmall ? commonLengths(keysA.slice(i), keysB.slice(j)) : undefined
  const start = i
  const after = (left: number, right: number): number => common?.[left - start]?.[right - start] ?? 0
  while (i < a.length || j < b.length) {
    const same = i < a.length && j < b.length && keysA[i] === keysB[j]
    if (same) put(a[i++], b[j++])
    else if (j >= b.length || (i < a.length && after(i + 1, j) >= after(i, j + 1))) {
      put(a[i++], undefined)
    } else put(undefined, b[j++])
  }
  return pairs
}

export function messagesOf(items: Iterable<Item>): readonly Message[] {
  return [...items].filter((item) => item.kind === 'message')
}

/** A message never changes, so its content is made once, although a session that runs is compared many times. */
const contents = new WeakMap<Message, string>()

/** The text of a message and its tool calls with their results; equal messages give equal strings. */
export function comparableContent(message: Message): string {
  const known = contents.get(message)
  if (known !== undefined) return known
  const { text, parts } = message
  const made = JSON.stringify([
    text.trim(),
    ...parts.flatMap((part) => (part.kind === 'tool' ? [[part.name, part.args, part.result, part.error]] : [])),
  ])
  contents.set(message, made)
  return made
}

function kindOf(left: Message | undefined, right: Message | undefined): Pairing['kind'] {
  if (left === undefined) return 'right'
  if (right === undefined) return 'left'
  return comparableContent(left) === comparableContent(right) ? 'same' : 'changed'
}

function placeKey({ role, author, parts }: Message): string {
  const tools = parts.flatMap((part) => (part.kind === 'tool' ? [part.name] : []))
  return role === 'user' ? 'user' : [author, ...tools].join(' ')
}

/** lengths[i][j] is the length of the longest common subsequence of a from i and b from j. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = lengths[i]
      if (row === undefined) continue
      const below = lengths[i + 1]
      row[j] = a[i] === b[j] ? (below?.[j + 1] ?? 0) + 1 : Math.max(below?.[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  return lengths
}
