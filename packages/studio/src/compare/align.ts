import type { Item, Message } from '@millrace/core'

/** Two conversations side by side: what stands at the same place in both, and how it differs. */
export interface Pairing {
  readonly key: string
  readonly left: Message | undefined
  readonly right: Message | undefined
  readonly mark: 'same' | 'changed' | 'left' | 'right'
}

/** Beyond this many messages each, places are matched one by one instead of by the longest common order. */
const most = 1500

/** Messages of the same speaker with the same tools belong together; in order, as many as possible. */
export function align(a: readonly Message[], b: readonly Message[]): readonly Pairing[] {
  const pairs: Pairing[] = []
  const put = (left: Message | undefined, right: Message | undefined): void => {
    const key = `${left?.key ?? ''}|${right?.key ?? ''}`
    pairs.push({ key, left, right, mark: markOf(left, right) })
  }
  const [keysA, keysB] = [a.map(placeKey), b.map(placeKey)]
  const lengths = a.length <= most && b.length <= most ? commonLengths(keysA, keysB) : undefined
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const same = i < a.length && j < b.length && keysA[i] === keysB[j]
    if (same) put(a[i++], b[j++])
    else if (j >= b.length || (i < a.length && (lengths?.[i + 1]?.[j] ?? 0) >= (lengths?.[i]?.[j + 1] ?? 0))) {
      put(a[i++], undefined)
    } else put(undefined, b[j++])
  }
  return pairs
}

export function messagesOf(items: Iterable<Item>): readonly Message[] {
  return [...items].filter((item) => item.kind === 'message')
}

/** What a message says and what its tools were asked and answered: equal texts are equal messages. */
export function comparableContent({ text, parts }: Message): string {
  return JSON.stringify([
    text.trim(),
    ...parts.flatMap((part) => (part.kind === 'tool' ? [[part.name, part.args, part.result, part.error]] : [])),
  ])
}

function markOf(left: Message | undefined, right: Message | undefined): Pairing['mark'] {
  if (left === undefined) return 'right'
  if (right === undefined) return 'left'
  return comparableContent(left) === comparableContent(right) ? 'same' : 'changed'
}

function placeKey({ role, author, parts }: Message): string {
  const tools = parts.flatMap((part) => (part.kind === 'tool' ? [part.name] : []))
  return role === 'user' ? 'user' : [author, ...tools].join(' ')
}

/** lengths[i][j]: how long the longest common order of a from i and b from j is. */
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
