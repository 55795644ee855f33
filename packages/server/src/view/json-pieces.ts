/** Characters of a piece, about. */
const pieceSize = 64 * 1024

/** An object or list that is being printed: its values not printed yet, and its closing bracket. */
interface Open {
  readonly entries: Iterator<readonly [string, unknown]>
  readonly isList: boolean
  first: boolean
}

/**
 * The text of `JSON.stringify` in pieces, so that a large answer is never held as one text and other work gets a turn
 * between two pieces. It uses its own stack, because a value may be 20,000 levels deep.
 */
export function* jsonPieces(value: unknown): Generator<string, void> {
  const open: Open[] = []
  let text = ''
  const begin = (item: unknown): void => {
    if (typeof item !== 'object' || item === null) {
      text += JSON.stringify(item) ?? 'null'
      return
    }
    const isList = Array.isArray(item)
    text += isList ? '[' : '{'
    open.push({ entries: isList ? itemsOf(item) : fieldsOf(item), isList, first: true })
  }
  begin(asJson(value, ''))
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { done, value: entry } = top.entries.next()
    if (done === true) {
      open.pop()
      text += top.isList ? ']' : '}'
    } else {
      const [key, item] = entry
      if (!top.first) text += ','
      top.first = false
      if (!top.isList) text += `${JSON.stringify(key)}:`
      begin(item)
    }
    if (text.length < pieceSize) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

function* itemsOf(list: readonly unknown[]): Generator<readonly [string, unknown], void> {
  for (const item of list) {
    const value = asJson(item, '')
    yield ['', isPrinted(value) ? value : null]
  }
}

function* fieldsOf(object: object): Generator<readonly [string, unknown], void> {
  for (const key of Object.keys(object)) {
    const value = asJson(Reflect.get(object, key), key)
    if (isPrinted(value)) yield [key, value]
  }
}

function asJson(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return value
  const print: unknown = Reflect.get(value, 'toJSON')
  return typeof print === 'function' ? Reflect.apply(print, value, [key]) : value
}

function isPrinted(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}
