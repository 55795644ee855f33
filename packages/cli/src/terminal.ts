import type { Env } from './env-files.ts'

/** Paints a text; without colours it returns the text as it is. */
type Paint = (text: string) => string

export interface Colours {
  readonly good: Paint
  readonly bad: Paint
  readonly warn: Paint
  readonly accent: Paint
  readonly strong: Paint
  readonly faint: Paint
}

const same: Paint = (text) => text
export const plain: Colours = { good: same, bad: same, warn: same, accent: same, strong: same, faint: same }

const paint =
  (code: number): Paint =>
  (text) =>
    text === '' ? '' : `\u001b[${code}m${text}\u001b[0m`
const painted: Colours = {
  good: paint(32),
  bad: paint(31),
  warn: paint(33),
  accent: paint(36),
  strong: paint(1),
  faint: paint(2),
}

/** Colours for a terminal, none for a file or a pipe. */
export const coloursFor = (terminal: boolean): Colours => (terminal ? painted : plain)

/** The colours of a stream of this process. `NO_COLOR` turns them off, whatever its value (no-color.org). */
export function coloursOf(stream: { readonly isTTY?: boolean }, env: Env = process.env): Colours {
  return coloursFor(stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb')
}

/** Columns of the terminal; undefined for a file or a pipe, whose lines are never cut. Some terminals say that they have none. */
export function widthOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number | undefined {
  return stream.isTTY === true ? stream.columns || 80 : undefined
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes that colours are made of
const codes = /\u001b\[\d+m/g
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const segmenter = new Intl.Segmenter()

/** Columns that a text takes: colours take none, Chinese characters and emoji take two. */
export function columnsOf(text: string): number {
  const bare = text.replace(codes, '')
  if (/^[\x20-\x7e]*$/.test(bare)) return bare.length
  let columns = 0
  for (const { segment } of segmenter.segment(bare)) columns += wide.test(segment) ? 2 : 1
  return columns
}

/** One line of at most `width` columns. Text from the wire must not move the cursor, so control characters go. */
export function oneLine(text: string, width = 120): string {
  // No text of the wire is searched further than a line can show.
  const bare = visible(text.slice(0, width * 4))
    .replace(/\s+/g, ' ')
    .trim()
  if (columnsOf(bare) <= width) return bare
  let kept = ''
  let columns = 0
  for (const { segment } of segmenter.segment(bare)) {
    columns += wide.test(segment) ? 2 : 1
    if (columns >= width) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** A text of the wire without the control characters that could move the cursor or change colours; lines stay. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '')
}

/** Rows as aligned columns, two spaces apart. Cells may be painted. `right`: columns of numbers. */
export function aligned(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, columnsOf(cell))
  return rows.map((row) =>
    row
      .map((cell, i) => {
        const space = ' '.repeat((widths[i] ?? 0) - columnsOf(cell))
        return right.includes(i) ? space + cell : cell + space
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Breaks a text into lines of at most `columns` columns. A longer word gets a line of its own. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** A text whose lines after the first begin in the column `indent`, where the terminal has room for that. */
export function hanging(text: string, indent: number, width: number | undefined): string {
  const room = (width ?? Number.POSITIVE_INFINITY) - indent
  return room < 16 ? text : wrapped(text, room).join(`\n${' '.repeat(indent)}`)
}

/** `12 ms`, `1.4 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** `1 frame`, `2 frames`, `12,345 frames`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`
}
