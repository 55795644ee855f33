import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type AgUiNote, agUiNotes } from './ag-ui-scenario.ts'

const file = fileURLToPath(new URL('../../docs/clients.md', import.meta.url))

/** A table of scenarios and clients in docs/clients.md. */
interface ClientTable<Note extends string> {
  /** The comment before and after the table. */
  readonly mark: string
  readonly corner: string
  readonly clients: readonly string[]
  readonly scenarios: readonly string[]
  /** How each scenario went, by `${client} ${scenario}`. One that is missing failed. */
  readonly outcomes: ReadonlyMap<string, Note | 'works'>
  readonly notes: Readonly<Record<Note, string>>
  /** The notes that are printed in the place of "works". */
  readonly without?: readonly Note[]
}

export function documentMatrix(
  clients: readonly string[],
  scenarios: readonly string[],
  outcomes: ReadonlyMap<string, AgUiNote | 'works'>,
): string {
  return documentTable({
    mark: 'ag-ui-matrix',
    corner: '`@ag-ui/client`',
    clients,
    scenarios,
    outcomes,
    notes: agUiNotes,
  })
}

/**
 * Compares a table in docs/clients.md with what ran, or writes it when `MILLRACE_WRITE_DOCS` is set. Returns the first
 * line that differs, else nothing.
 */
export function documentTable<Note extends string>(ran: ClientTable<Note>): string {
  const text = readFileSync(file, 'utf8')
  const begin = `<!-- ${ran.mark} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(`<!-- /${ran.mark} -->`)
  if (from < 0 || to < from) return `${file} has no ${begin} … <!-- /${ran.mark} -->`
  const wanted = `${begin}\n\n${table(ran)}\n\n`
  if (process.env.MILLRACE_WRITE_DOCS === '1') {
    writeFileSync(file, text.slice(0, from) + wanted + text.slice(to))
    return ''
  }
  const committed = text.slice(from, to).split('\n')
  return wanted.split('\n').find((line, i) => line !== committed[i]) ?? ''
}

function table<Note extends string>({ corner, clients, scenarios, outcomes, notes, without = [] }: ClientTable<Note>) {
  const used: Note[] = []
  const cell = (client: string, scenario: string): string => {
    const outcome = outcomes.get(`${client} ${scenario}`)
    if (outcome === undefined) return 'fails'
    if (outcome === 'works') return 'works'
    if (!used.includes(outcome)) used.push(outcome)
    return `${without.includes(outcome) ? 'has none' : 'works'} (${used.indexOf(outcome) + 1})`
  }
  const rows = scenarios.map((scenario) => [scenario, ...clients.map((client) => cell(client, scenario))])
  const head = [corner, ...clients]
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => (row[at] ?? '').length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((each, at) => each.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  const texts = used.map((note, at) => `${at + 1}. ${notes[note]}`)
  return [line(head), rule, ...rows.map(line), '', ...texts].join('\n')
}
