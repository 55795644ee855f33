import type { Source, Where } from './fact.ts'

/** The longest list: a hostile text must not make a view large. The text itself stays in the log. */
const most = 100
/** How many characters of one line a list may take. */
const longest = 4000

const bullet = /^\s{0,8}(?:[-+*•]|\d{1,3}[.)])\s{1,4}(?=\S)/
const nextLabel = /\s\|\s|\s\*\*[^*]{1,80}\*\*|[,;.]?\s(?:overall\s)?confidence\s?:/i
/** An item that says something of the source before it: a date, or a field such as `Imagery date: 2022-09-15`. */
const date = String.raw`(?:19|20)\d\d(?:[-/]\d{1,2}){0,2}`
const attribute = new RegExp(
  String.raw`^(?:${date}$|(?:dated|accessed|retrieved|updated|published|version|as of)\b|[a-z ]{0,40}\b(?:date|year|version|period|resolution|accessed|retrieved)\s?:|[a-z ]{1,40}:\s?${date}\b)`,
  'i',
)
const link = /^\[([^\]]{1,200})\]\((https?:[^)\s]{1,500})\)$/

/**
 * Reads a labelled list, line by line: `**Source:** A, B`, `(Source: A)`, or the label alone and bullets under it.
 * The label may be in bold anywhere, plain at the start of a line, or behind an opening parenthesis.
 */
export function readLists(
  name: string,
  from: (start: number, end: number) => Where,
): { readonly found: readonly Source[]; read(line: string, start: number): void } {
  const label = new RegExp(
    `(?:^[\\s>]{0,8}(?:[-+*•]\\s{1,4})?|\\*\\*|(\\())${name}\\s?(?:\\*\\*\\s?:|:\\*\\*|:)\\s{0,4}`,
    'gi',
  )
  const found: Source[] = []
  let listing = false
  const take = (line: string, start: number, begin: number, end: number): number => {
    const before = found.length
    for (const [itemBegin, itemEnd] of items(line, begin, end)) {
      if (found.length >= most) break
      const text = line.slice(itemBegin, itemEnd)
      const [, title, uri] = link.exec(text) ?? []
      const previous = found.length > before ? found.at(-1) : undefined
      if (previous !== undefined && attribute.test(text)) {
        const detail = previous.detail === undefined ? text : `${previous.detail}, ${text}`
        found[found.length - 1] = { ...previous, detail, from: { ...previous.from, end: start + itemEnd } }
        continue
      }
      const at = from(start + itemBegin, start + itemEnd)
      found.push(title === undefined || uri === undefined ? { text, from: at } : { text: title, uri, from: at })
    }
    return found.length - before
  }
  return {
    found,
    read(line, start) {
      if (found.length >= most) return
      label.lastIndex = 0
      let match = label.exec(line)
      if (match === null && listing) {
        const item = bullet.exec(line)
        listing = item !== null || line.trim() === ''
        if (item !== null) take(line, start, item[0].length, Math.min(line.length, item[0].length + longest))
        return
      }
      for (; match !== null && found.length < most; match = label.exec(line)) {
        const begin = match.index + match[0].length
        const end = valueEnd(line, begin, match[1] !== undefined)
        listing = take(line, start, begin, end) === 0
        label.lastIndex = end
      }
    },
  }
}

/** Where a value ends: at the next label or cell of the line, or at the parenthesis that closes it. */
function valueEnd(line: string, begin: number, inParentheses: boolean): number {
  const value = line.slice(begin, begin + longest)
  const next = nextLabel.exec(value)?.index ?? value.length
  if (!inParentheses) return begin + next
  let depth = 1
  for (let i = 0; i < next; i++) {
    if (value[i] === '(') depth++
    else if (value[i] === ')' && --depth === 0) return begin + i
  }
  return begin + next
}

/** The items of a list, as places in the line: split at commas and semicolons outside parentheses. */
function* items(line: string, begin: number, end: number): Generator<readonly [number, number]> {
  let depth = 0
  let from = begin
  for (let i = begin; i <= end; i++) {
    const char = line[i]
    if (i < end) {
      if (char === '(' || char === '[') depth++
      else if (char === ')' || char === ']') depth = Math.max(0, depth - 1)
      if (depth > 0 || (char !== ',' && char !== ';')) continue
    }
    const item = trimmed(line, from, i)
    if (item[0] < item[1]) yield item
    from = i + 1
  }
}

function trimmed(line: string, begin: number, end: number): readonly [number, number] {
  let [from, to] = [begin, end]
  while (from < to && /[\s*_]/.test(line[from] ?? '')) from++
  while (from < to && /[\s*_.]/.test(line[to - 1] ?? '')) to--
  return [from, to]
}
