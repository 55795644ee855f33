import type { RunEvent } from '@millrace/core'
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
      const drafts = texts.map((text) => ({ run: '', event: n % 2 === 0 ? note(text) : partial(`m${n}`, text) }))
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

const note = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })

/** Partials of one append are stored together. */
const partial = (message: string, text: string): RunEvent => ({
  kind: 'agent',
  message,
  event: { id: text, author: 'a', invocationId: 'i', timestamp: 1, partial: true, content: { parts: [{ text }] } },
})
