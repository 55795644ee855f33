import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type AgUiNote, agUiNotes } from './ag-ui-scenario.ts'

const file = fileURLToPath(new URL('../../docs/clients.md', import.meta.url))
const begin = '<!-- ag-ui-matrix -->'
const end = '<!-- /ag-ui-matrix -->'

/**
 * Compares the table in docs/clients.md with what ran, or writes it when `MILLRACE_WRITE_DOCS` is set. Returns the first
 * line that differs, else nothing.
 */
export function documentMatrix(
  versions: readonly string[],
  names: readonly string[],
  outcomes: ReadonlyMap<string, AgUiNote | 'works'>,
): string {
  const text = readFileSync(file, 'utf8')
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) return `${file} has no ${begin} … ${end}`
  const wanted = `${begin}\n\n${table(versions, names, outcomes)}\n\n`
  if (process.env.MILLRACE_WRITE_DOCS === '1') {
    writeFileSync(file, text.slice(0, from) + wanted + text.slice(to))
    return ''
  }
  const committed = text.slice(from, to).split('\n')
  return wanted.split('\n').find((line, i) => line !== committed[i]) ?? ''
}

function table(
  versions: readonly string[],
  names: readonly string[],
  outcomes: ReadonlyMap<string, AgUiNote | 'works'>,
): string {
  const notes: AgUiNote[] = []
  const cell = (version: string, name: string): string => {
    const outcome = outcomes.get(`${version} ${name}`)
    if (outcome === undefined) return 'fails'
    if (outcome === 'works') return 'works'
    if (!notes.includes(outcome)) notes.push(outcome)
    return `works (${notes.indexOf(outcome) + 1})`
  }
  const rows = names.map((name) => [name, ...versions.map((version) => cell(version, name))])
  const head = ['`@ag-ui/client`', ...versions]
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => (row[at] ?? '').length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((each, at) => each.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  const texts = notes.map((note, at) => `${at + 1}. ${agUiNotes[note]}`)
  return [line(head), rule, ...rows.map(line), '', ...texts].join('\n')
}
