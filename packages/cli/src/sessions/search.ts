import type { FoundPage, FoundRow } from '@millrace/core'
import { CommandError } from '../command-error.ts'
import type { Env } from '../env-files.ts'
import { remark, sayJson, sayLine } from '../output.ts'
import { askServer, type ServerAccess } from '../server-access.ts'
import { aligned, type Colours, coloursOf, columnsOf, counted, hanging, oneLine, widthOf } from '../terminal.ts'
import { at, type ListOptions } from './sessions.ts'
import { queryOfStatus } from './status-query.ts'

export interface SearchOptions extends ListOptions {
  readonly kind?: string
  readonly from?: string
  readonly to?: string
  readonly order: string
}

/** The most that the server answers at once. */
const pageSize = 100

/** Finds words in all sessions. */
export async function searchCommand(text: string, options: SearchOptions, env: Env): Promise<void> {
  if (text.trim() === '') throw new CommandError('say what to search for: millrace sessions search "words"', 2)
  await at(options, env, async (server) => {
    await untilIndexed(server, text)
    const { found, more } = await foundRows(server, text, options)
    if (options.json === true) {
      sayJson(found)
      return
    }
    const colours = coloursOf(process.stdout)
    const rows = found.map((row) => cellsOf(row, colours))
    for (const line of fitted(rows, widthOf(process.stdout))) sayLine(line)
    if (found.length === 0) remark(`Nothing has “${oneLine(text, 60)}”.`)
    else
      remark(
        more
          ? `The first ${counted(found.length, 'match', 'matches')}; see --limit.`
          : counted(found.length, 'match', 'matches'),
      )
  })
}

/** A match is one line, or two where the terminal is narrower than that. */
function fitted(rows: readonly (readonly string[])[], width: number | undefined): readonly string[] {
  const lines = aligned(rows, [1])
  if (width === undefined || lines.every((line) => columnsOf(line) <= width)) return lines
  return rows.map((row) => `${row.slice(0, -1).join('  ')}\n    ${hanging(row.at(-1) ?? '', 4, width)}`)
}

function cellsOf({ session, seq, kind, author, snippet }: FoundRow, colours: Colours): readonly string[] {
  let line = ''
  let from = 0
  for (const [start, end] of snippet.marks) {
    line += snippet.text.slice(from, start) + colours.strong(snippet.text.slice(start, end))
    from = end
  }
  line += snippet.text.slice(from)
  return [colours.accent(session), colours.faint(String(seq)), colours.faint(kind), author, line]
}

/** The first search of a large store starts its index. Each answer comes within a moment and says how far that is. */
async function untilIndexed(server: ServerAccess, text: string): Promise<void> {
  let told = -1
  for (;;) {
    const { indexing } = await asked(server, { q: text, limit: '1' })
    // No step forward means that the index cannot be written, and what it has is searched.
    if (indexing === undefined || indexing.done <= told) return
    told = indexing.done
    remark(`Indexing … ${Math.floor((100 * indexing.done) / indexing.of)} %`)
  }
}

async function foundRows(
  server: ServerAccess,
  text: string,
  { kind, agent, status, from, to, order, limit }: SearchOptions,
): Promise<{ readonly found: readonly FoundRow[]; readonly more: boolean }> {
  const found: FoundRow[] = []
  let cursor: string | undefined
  do {
    const size = String(Math.min(pageSize, limit - found.length))
    const page = await asked(server, {
      q: text,
      kind,
      agent,
      ...queryOfStatus(status),
      from,
      to,
      order,
      limit: size,
      cursor,
    })
    found.push(...page.found)
    cursor = page.next
  } while (cursor !== undefined && found.length < limit)
  return { found, more: cursor !== undefined }
}

async function asked(server: ServerAccess, fields: Readonly<Record<string, string | undefined>>): Promise<FoundPage> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, value)
  return (await (await askServer(server, `/search?${query}`)).json()) as FoundPage
}
