import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type SessionInfo, sessionWord } from '@millrace/core'
import { CommandError } from '../command-error.ts'
import type { Env } from '../env-files.ts'
import { openInput, whyUnreachable } from '../input.ts'
import { remark, sayJson, sayLine, textOut } from '../output.ts'
import { askServer, type ServerAccess, serverAt } from '../server-access.ts'
import { aligned, type Colours, coloursOf, columnsOf, counted, durationText, oneLine, widthOf } from '../terminal.ts'
import { unwritable } from '../write-text.ts'
import { queryOfStatus } from './status-query.ts'

export interface PlaceOptions {
  readonly dataDir?: string
  readonly database?: string
  readonly server?: string
}

export interface ExportOptions extends PlaceOptions {
  readonly format: 'jsonl' | 'html'
  readonly dialect?: string
  readonly run?: string
  readonly out?: string
}

export interface ListOptions extends PlaceOptions {
  readonly agent?: string
  readonly status?: string
  readonly limit: number
  readonly json?: boolean
}

export async function listCommand(options: ListOptions, env: Env): Promise<void> {
  await at(options, env, async (server) => {
    const { sessions, total } = await listed(server, options)
    if (options.json === true) sayJson(sessions)
    else if (total === 0) sayLine('No sessions.')
    else {
      const colours = coloursOf(process.stdout)
      const now = Date.now()
      const rows = sessions.map((one) => rowOf(one, now, colours))
      const heads = ['session', 'agent', 'title', 'status', 'events', 'changed'].map(colours.faint)
      for (const line of fitted([heads, ...rows], widthOf(process.stdout))) sayLine(line)
      if (total > sessions.length) remark(`${counted(total - sessions.length, 'more session')}; see --limit.`)
    }
  })
}

/** What a narrow terminal has no room for, in the order in which it is left out: events, title, agent, time. */
const leftOut: readonly number[] = [4, 2, 1, 5]

function fitted(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): readonly string[] {
  for (let out = 0; ; out += 1) {
    const kept = rows.map((row) => row.filter((_, i) => !leftOut.slice(0, out).includes(i)))
    const lines = aligned(kept, out === 0 ? [4] : [])
    if (out === leftOut.length || lines.every((line) => columnsOf(line) <= width)) return lines
  }
}

function rowOf(info: SessionInfo, now: number, colours: Colours): string[] {
  const { id, agent, title, events, updatedAt } = info
  const word = sessionWord(info)
  const paint = word === 'done' ? colours.good : word === 'failed' ? colours.bad : colours.warn
  const width = Math.max((widthOf(process.stdout) ?? 120) - 90, 20)
  return [
    id,
    agent,
    oneLine(title, width),
    paint(word),
    events.toLocaleString('en-US'),
    `${durationText(now - updatedAt)} ago`,
  ]
}

/** Prints a session, piece by piece. */
export async function exportCommand(session: string, options: ExportOptions, env: Env): Promise<void> {
  if (options.run !== undefined && options.format !== 'html')
    throw new CommandError('--run needs --format html; a log is exported whole', 2)
  await at(options, env, async (server) => {
    const base = `/sessions/${encodeURIComponent(session)}`
    const path = `${base}/${exportPath(options)}`
    // A stream of an unknown session is an empty one; this asks whether there is any.
    if (options.dialect !== undefined) await askServer(server, `${base}/state`)
    const answer = await askServer(server, path)
    if (options.out !== undefined) {
      await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(options.out)).catch((error: Error) => {
        if ('syscall' in error) throw unwritable(options.out ?? '', error)
        throw new CommandError(
          `the session broke off while it was read (${whyUnreachable(error)}); ${options.out} is not whole`,
        )
      })
      return
    }
    const out = textOut(process.stdout)
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) await out.write(decoder.decode(chunk as Uint8Array, { stream: true }))
    await out.flush()
  })
}

function exportPath({ dialect, format, run }: ExportOptions): string {
  if (dialect !== undefined) return `events?until=idle&dialect=${dialect}`
  if (format !== 'html') return 'log'
  return run === undefined ? 'report' : `report?run=${encodeURIComponent(run)}`
}

export async function importCommand(
  file: string | undefined,
  options: PlaceOptions & { readonly id?: string; readonly agent?: string; readonly json?: boolean },
  env: Env,
): Promise<void> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await openInput(file)) chunks.push(chunk)
  await at(options, env, async (server) => {
    const query = new URLSearchParams()
    if (options.id !== undefined) query.set('id', options.id)
    if (options.agent !== undefined) query.set('agent', options.agent)
    const headers = { 'content-type': 'text/plain' }
    const answer = await askServer(server, `/sessions/import?${query}`, {
      method: 'POST',
      headers,
      body: Buffer.concat(chunks),
    })
    const session = (await answer.json()) as SessionInfo
    if (options.json === true) sayJson(session)
    else {
      sayLine(session.id)
      remark(`Imported ${counted(session.events, 'event')} of ${session.agent || 'an unnamed agent'}.`)
    }
  })
}

export async function removeCommand(
  ids: readonly string[],
  options: PlaceOptions & { readonly json?: boolean },
  env: Env,
): Promise<void> {
  await at(options, env, async (server) => {
    for (const id of ids) {
      await askServer(server, `/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' })
      if (options.json === true) sayJson({ removed: id })
      else remark(`Removed ${id}.`)
    }
  })
}

async function listed(
  server: ServerAccess,
  { agent, status, limit }: Omit<ListOptions, keyof PlaceOptions>,
): Promise<{ readonly sessions: readonly SessionInfo[]; readonly total: number }> {
  const query = new URLSearchParams({ limit: String(limit) })
  if (agent !== undefined) query.set('agent', agent)
  for (const [name, value] of Object.entries(queryOfStatus(status))) if (value !== undefined) query.set(name, value)
  return (await (await askServer(server, `/sessions?${query}`)).json()) as never
}

/** Does the work on the log that the options name, and closes it. */
export async function at(
  { dataDir, database, server }: PlaceOptions,
  env: Env,
  work: (server: ServerAccess) => Promise<void>,
): Promise<void> {
  const place = database ?? dataDir ?? (env.DATABASE_URL || env.DATA_DIR || '.millrace')
  const access =
    server === undefined ? await (await import('../own-server.ts')).logServer(place) : serverAt(server, env)
  try {
    await work(access)
  } finally {
    await access.close()
  }
}
