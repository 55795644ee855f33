import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { kinds } from './place.ts'
import { points } from './points.ts'

const file = fileURLToPath(new URL('../../../docs/page.md', import.meta.url))
const [begin, end] = ['<!-- page-matrix -->', '<!-- /page-matrix -->']

/** How many cells of a point and a kind of session there are, and how many of them passed. */
export type Passed = ReadonlyMap<string, { readonly passed: number; readonly all: number }>

/**
 * Compares the table in docs/page.md with what ran, or writes it when `MILLRACE_WRITE_DOCS` is set. Returns the first line
 * that differs, else nothing. What did not run stays as it is: the small form runs no whole column.
 */
export function documentPage(results: Passed | undefined): string {
  const text = readFileSync(file, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) return `${file} has no ${begin} … ${end}`
  const committed = text
    .slice(from + begin.length, to)
    .trim()
    .split('\n')
  const wanted = table((name, kind, i) => {
    const found = results?.get(`${name} ${kind}`)
    return found === undefined ? committedCell(committed, name, i) : `${found.passed} of ${found.all}`
  })
  if (process.env.MILLRACE_WRITE_DOCS === '1' && results !== undefined) {
    writeFileSync(file, `${text.slice(0, from)}${begin}\n\n${wanted.join('\n')}\n\n${text.slice(to)}`)
    return ''
  }
  return wanted.find((line, i) => line !== committed[i]) ?? ''
}

function committedCell(lines: readonly string[], name: string, i: number): string {
  const cells = lines.find((line) => line.startsWith(`| ${name} `))?.split(' | ') ?? []
  return cells[i + 3]?.replace(/\|$/, '').trim() ?? 'not run'
}

function table(cell: (name: string, kind: string, i: number) => string): readonly string[] {
  const head = ['point', 'a person', 'and sees', 'example agents', 'imported recording', '100,000 events']
  const rows = points.map(({ name, does, sees }) => [name, does, sees, ...kinds.map((kind, i) => cell(name, kind, i))])
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => (row[at] ?? '').length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((each, at) => each.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)]
}
