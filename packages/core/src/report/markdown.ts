import { html, type Markup } from './markup.ts'

/** Lines beyond this are in one plain paragraph: a report is for reading, and a hostile text must not cost more than its length. */
const mostLines = 4000
const mostCells = 24

/**
 * The markdown that models write: headings, lists, tables, quotes, code, strong and emphasised words. Links to
 * the web and to mail addresses can be followed; a picture is its words and its address, so that a report asks no server
 * for anything by itself.
 */
export function markdown(text: string): Markup {
  const lines = text.split(/\r\n|\r|\n/)
  const blocks: Markup[] = []
  let at = 0
  while (at < Math.min(lines.length, mostLines)) {
    const read = block(lines, at)
    if (read.markup !== undefined) blocks.push(read.markup)
    at = read.next
  }
  if (at < lines.length) blocks.push(html`<pre>${lines.slice(at).join('\n')}</pre>`)
  return html`${blocks}`
}

interface Block {
  readonly markup?: Markup
  readonly next: number
}

const heading = /^ {0,3}(#{1,6})\s+(.*)$/
const item = /^(\s{0,12})(?:[-*+]|(\d{1,6})[.)])\s+(.*)$/
const rule = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/
const fence = /^ {0,3}(`{3,}|~{3,})/
const divider = /^[\s|:-]+$/

function block(lines: readonly string[], at: number): Block {
  const line = lines[at] ?? ''
  if (line.trim() === '') return { next: at + 1 }
  if (fence.test(line)) return code(lines, at)
  const title = heading.exec(line)
  if (title !== null) {
    // The report has headings of its own above those of an answer.
    const words = inline(title[2] ?? '')
    return { markup: (title[1] ?? '').length <= 2 ? html`<h4>${words}</h4>` : html`<h5>${words}</h5>`, next: at + 1 }
  }
  if (rule.test(line)) return { markup: html`<hr>`, next: at + 1 }
  if (line.includes('|') && isDivider(lines[at + 1])) return table(lines, at)
  if (item.test(line)) return list(lines, at)
  if (line.startsWith('>')) return quote(lines, at)
  const end = endOf(lines, at, (each) => each.trim() !== '' && !startsBlock(each))
  return { markup: html`<p>${inline(lines.slice(at, end).join('\n'))}</p>`, next: end }
}

function startsBlock(line: string): boolean {
  return heading.test(line) || item.test(line) || rule.test(line) || fence.test(line) || line.startsWith('>')
}

/** The first line after `at` that does not continue the block. */
function endOf(lines: readonly string[], at: number, goesOn: (line: string) => boolean): number {
  let end = at + 1
  while (end < lines.length && goesOn(lines[end] ?? '')) end += 1
  return end
}

function code(lines: readonly string[], at: number): Block {
  const mark = fence.exec(lines[at] ?? '')?.[1]?.slice(0, 3) ?? '```'
  const end = endOf(lines, at, (line) => !line.trimStart().startsWith(mark))
  return { markup: html`<pre>${lines.slice(at + 1, end).join('\n')}</pre>`, next: end + 1 }
}

function quote(lines: readonly string[], at: number): Block {
  const end = endOf(lines, at, (line) => line.startsWith('>'))
  const words = lines.slice(at, end).map((line) => line.replace(/^>\s?/, ''))
  return { markup: html`<blockquote><p>${inline(words.join('\n'))}</p></blockquote>`, next: end }
}

/** Nested items are indented, which a reader understands as well as a list inside a list. */
function list(lines: readonly string[], at: number): Block {
  const end = endOf(lines, at, (line) => line.trim() !== '' && (item.test(line) || /^\s/.test(line)))
  const items: { depth: number; mark: string; words: string }[] = []
  for (const line of lines.slice(at, end)) {
    const [, indent = '', number, words = ''] = item.exec(line) ?? []
    const last = items.at(-1)
    if (item.test(line))
      items.push({
        depth: Math.min(4, Math.floor(indent.length / 2)),
        mark: number === undefined ? '•' : `${number}.`,
        words,
      })
    else if (last !== undefined) last.words += `\n${line.trim()}`
  }
  const made = items.map(
    ({ depth, mark, words }) => html`<li class="d${depth}"><span>${mark}</span><div>${inline(words)}</div></li>`,
  )
  return { markup: html`<ul class="list">${made}</ul>`, next: end }
}

function isDivider(line: string | undefined): boolean {
  return line?.includes('-') === true && line.includes('|') && divider.test(line)
}

function table(lines: readonly string[], at: number): Block {
  const end = endOf(lines, at + 1, (line) => line.includes('|'))
  const cells = (line: string): readonly string[] =>
    line
      .trim()
      .replace(/^\|/, '')
      .replace(/\|$/, '')
      .split('|', mostCells)
      .map((cell) => cell.trim())
  const head = cells(lines[at] ?? '').map((cell) => html`<th>${inline(cell)}</th>`)
  const rows = lines
    .slice(at + 2, end)
    .map((line) => html`<tr>${cells(line).map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)
  return { markup: html`<table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table>`, next: end }
}

/** Every repetition is bounded, so that the time is linear in the length of the text. */
const words =
  /`([^`\n]{1,500})`|\*\*([^*\n]{1,1000})\*\*|__([^_\n]{1,1000})__|(?<![\w*])\*([^*\n]{1,500})\*(?![\w*])|!?\[([^\]\n]{0,500})\]\(([^)\s]{1,1000})[^)\n]{0,200}\)/g

export function inline(text: string): Markup {
  const made: (Markup | string)[] = []
  let at = 0
  for (const match of text.matchAll(words)) {
    const [whole, literal, strong, bold, emphasis, label, address] = match
    made.push(text.slice(at, match.index))
    if (literal !== undefined) made.push(html`<code>${literal}</code>`)
    else if (strong !== undefined || bold !== undefined) made.push(html`<strong>${strong ?? bold}</strong>`)
    else if (emphasis !== undefined) made.push(html`<em>${emphasis}</em>`)
    else made.push(link(whole, label ?? '', address ?? ''))
    at = match.index + whole.length
  }
  made.push(text.slice(at))
  return html`${made}`
}

/** The address is printed too: on paper it is all that is left of a link, and a reader sees where it leads. */
function link(whole: string, label: string, address: string): Markup {
  const printed = html`<span class="address">(${address})</span>`
  if (whole.startsWith('!') || !isSafe(address)) return html`${label} ${printed}`
  return html`<a href="${address}" rel="noopener noreferrer">${label === '' ? address : label}</a> ${printed}`
}

/** Only what is written out in full: an address without a scheme would lead into the folder of the report. */
function isSafe(address: string): boolean {
  return /^(?:https?:\/\/|mailto:)[\x21-\x7e]+$/i.test(address)
}
