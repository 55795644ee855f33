import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Served, serveBuilt } from '../kit/built-server.ts'

/** The command as it ships, with two users, in a folder of its own. */
export interface AttackedServer extends Served {
  /** A request of a user. */
  as(user: string, path: string, init?: RequestInit): Promise<Response>
  /** Bytes that the process holds. */
  memory(): number
  close(): Promise<void>
}

export async function attackedServer(
  env: Record<string, string> = {},
  more: readonly string[] = [],
): Promise<AttackedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-attack-'))
  const users = ['--token', 'ada=ada-token', '--token', 'bob=bob-token']
  const served = await serveBuilt(['serve', '--port', '0', '--data-dir', folder, ...users, ...more], {
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0',
    ...env,
  })
  const { pid } = served.child
  return {
    ...served,
    as: (user, path, init = {}) =>
      fetch(`${served.address}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${user}-token`, ...(init.headers as Record<string, string>) },
      }),
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024,
    async close() {
      await served.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A session export with these events, for `POST /sessions/import`. */
export function exportOf(events: Iterable<unknown>): string {
  const lines = ['{"format":"millrace.session","version":1,"session":{"agent":"assistant","title":"attack"}}']
  let seq = 0
  for (const event of events) {
    seq += 1
    lines.push(JSON.stringify({ seq, at: seq, run: '', event }))
  }
  return lines.join('\n')
}

export const importAs = (text: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-ndjson' },
  body: text,
})

const patch = (path: string, value: unknown) => ({ kind: 'state', patch: [{ op: 'add', path, value }] })

/** A state of many keys, then patches of one key each. */
export function* manyKeys(keys: number, patches: number): Generator<unknown> {
  const all = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, 1]))
  yield { kind: 'state', patch: [{ op: 'replace', path: '', value: all }] }
  for (let i = 0; i < patches; i++) yield patch(`/k${(i * 7919) % keys}`, i)
}

/** Events that hold so many empty lists each. */
export function* emptyLists(events: number, lists: number): Generator<unknown> {
  const value = new Array<never[]>(lists).fill([])
  for (let i = 0; i < events; i++) yield patch(`/a${i}`, value)
}

/** Many rows with next to nothing in them. */
export function* smallRows(count: number): Generator<unknown> {
  for (let i = 0; i < count; i++) yield { kind: 'log', level: 'info', message: '' }
}

/** Calls something again and again until the work is done; the longest it took, and how long the work took, in ms. */
export async function during(
  work: Promise<unknown>,
  probe: () => Promise<unknown>,
): Promise<{ readonly longest: number; readonly whole: number; readonly probes: number }> {
  const begun = performance.now()
  let over = false
  const ended = work.finally(() => {
    over = true
  })
  let longest = 0
  let probes = 0
  while (!over) {
    const before = performance.now()
    await probe()
    longest = Math.max(longest, performance.now() - before)
    probes += 1
  }
  await ended
  return { longest, whole: performance.now() - begun, probes }
}
