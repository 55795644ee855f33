import { sqliteLog } from '../../../packages/server/src/store/sqlite/log.ts'

/**
 * Appends to many sessions at once without end, and prints each row on stdout as soon as it is acknowledged (`ack`) or
 * comes to a follower (`seen`). To be killed.
 */
export async function main([folder = '', life = '']: readonly string[]): Promise<void> {
  const log = await sqliteLog({ folder, now: Date.now })
  const say = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`) // to a pipe: at once
  const write = async (id: string): Promise<never> => {
    for (let n = 0; ; n++) {
      const texts = Array.from({ length: 1 + (n % 3) }, (_, i) => `${life}/${id}/${n}/${i} ${'é'.repeat(n % 50)}`)
      const drafts = texts.map((message) => ({ run: '', event: { kind: 'log', level: 'info', message } as const }))
      for (const { seq, event } of await log.append(id, drafts)) say({ what: 'ack', id, seq, event })
    }
  }
  const follow = async (id: string): Promise<void> => {
    const { signal } = new AbortController()
    const after = (await log.get(id))?.lastSeq ?? 0
    for await (const rows of log.follow(id, { after, signal })) {
      for (const { seq, event } of rows) say({ what: 'seen', id, seq, event })
    }
  }
  const ids = Array.from({ length: 20 }, (_, i) => `s${i}`)
  for (const id of ids) if ((await log.get(id)) === undefined) await log.create({ id, user: 'u', agent: 'a' })
  await Promise.all(ids.flatMap((id) => [follow(id), write(id)]))
}
