import type { Block, Item, Part } from '@millrace/core'
import { isVisible, visibleParts } from './visible-parts.ts'

/** One place in the conversation that has the text: the row, and which of its matches. */
export interface FindMatch {
  readonly key: string
  readonly nth: number
}

/** More are not counted, because they are too many to walk through. */
export const mostMatches = 5000

/** The text in lower case and without accents, with as many units as before, so that places stay the same. */
export function sameLength(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  let out = ''
  for (let i = 0; i < text.length; i++) {
    const letter = text.charAt(i)
    const plain = letter.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
    out += plain.length === 1 ? plain : letter
  }
  return out
}

/** The places of a text in another one; they do not overlap. */
export function placesOf(folded: string, text: string): readonly number[] {
  const places: number[] = []
  if (text === '') return places
  for (
    let at = folded.indexOf(text);
    at >= 0 && places.length < mostMatches;
    at = folded.indexOf(text, at + text.length)
  )
    places.push(at)
  return places
}

/** All matches in the conversation, from the first row on. */
export function matchesIn(blocks: readonly Block[], text: string): readonly FindMatch[] {
  const wanted = sameLength(text.trim())
  if (wanted === '') return []
  const matches: FindMatch[] = []
  for (const block of blocks) {
    const count = placesOf(sameLength(rowText(block)), wanted).length
    for (let nth = 0; nth < count && matches.length < mostMatches; nth++) matches.push({ key: block.key, nth })
  }
  return matches
}

/** What a row shows, with what is folded away in it. */
function rowText(block: Block): string {
  const items = block.kind === 'item' ? [block.item] : block.lanes.flatMap(({ items }) => items.filter(isVisible))
  return items.map(itemText).join('\n')
}

function itemText(item: Item): string {
  switch (item.kind) {
    case 'message':
      return [...visibleParts(item).map(partText), item.error?.message ?? ''].join('\n')
    case 'transfer':
      return `${item.from}\n${item.to}`
    case 'foreign':
      return `${item.reason}\n${item.raw}`
    case 'artifact':
      return item.superseded === true ? '' : item.name
    case 'end':
      return item.outcome === 'done' ? '' : (item.error?.message ?? '')
    case 'log':
      return item.message
    case 'interrupt':
      return item.message ?? ''
    case 'start':
    case 'changed':
      return ''
  }
}

function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      // The page shows markdown without its marks.
      return part.text.replace(/\*\*|`|^#+ /gm, '')
    case 'thought':
      return part.text
    case 'tool':
      return [part.name, json(part.args ?? {}), part.error ?? json(part.result)].join('\n')
    case 'code':
      return part.code
    case 'code-result':
      return part.output ?? part.outcome ?? ''
    case 'file':
      return part.name ?? part.uri ?? ''
    case 'other':
      return json(part.part)
  }
}

function json(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}
