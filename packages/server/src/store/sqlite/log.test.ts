import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MillraceError } from '@millrace/core'
import { describeEventLog } from '@millrace/core/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { sqliteLog } from './log.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-store-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let logs = 0
describeEventLog({ describe, expect, test }, 'sqlite', (now) => sqliteLog({ folder: join(root, `${logs++}`), now }))

test('every kind of read returns huge events in small batches', async () => {
  const log = await sqliteLog({ folder: join(root, 'wide'), now: () => 1 })
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const wide = { run: '', event: { kind: 'log', level: 'info', message: 'x'.repeat(1_000_000) } as const }
  const thin = { run: '', event: { kind: 'log', level: 'info', message: '' } as const }
  await log.append('s', [thin, thin, ...Array.from({ length: 20 }, () => wide), thin])
  const batches: number[] = []
  for await (const rows of log.follow('s', { after: 0, signal: new AbortController().signal })) {
    batches.push(rows.length)
    if (rows.at(-1)?.seq === 23) break
  }
  expect(batches.reduce((sum, rows) => sum + rows)).toBe(23)
  expect(Math.max(...batches)).toBeLessThan(4) // 1 MB and two tiny rows
  expect((await log.readRaw('s', { after: 0 })).length).toBe(23)
  await log.append('s', [{ ...wide, event: { ...wide.event, message: 'x'.repeat(9_000_000) } }])
  expect((await log.read('s', { after: 22 })).map(({ seq }) => seq)).toEqual([23, 24])
  await log.close()
})

test('a read of many pages does not continue in a new session with the same id', async () => {
  const log = await sqliteLog({ folder: join(root, 'again'), now: () => 1 })
  const rows = (name: string, size: number) =>
    Array.from({ length: 60 }, (_, i) => ({
      seq: i + 1,
      at: 1,
      run: 'r',
      event: { kind: 'log', level: 'info', message: name + 'x'.repeat(size) } as const,
    }))
  await log.restore({ id: 's', user: 'u', agent: 'a' }, rows('old', 600_000)) // each row fills a page
  const reading = log.read('s', { after: 0 }).then(
    (all) => all.map(({ event }) => event.kind === 'log' && event.message.slice(0, 3)),
    (error: MillraceError) => [error.code],
  )
  // In one commit, so that looking up the id finds a session at every moment.
  await Promise.all([log.remove('s'), log.restore({ id: 's', user: 'u', agent: 'a' }, rows('new', 1))])
  const heard = new Set(await reading)
  expect([...heard]).toEqual(heard.has('not-found') ? ['not-found'] : ['old'])
  await log.close()
})

test('SPEC 5.3: a brief read of a session that is mostly tokens leaves out those of whole messages of ended runs', async () => {
  const log = await sqliteLog({ folder: join(root, 'brief'), now: () => 1 })
  const said = (message: string, text: string, partial: boolean) => ({
    kind: 'agent' as const,
    message,
    event: {
      id: `${message}${text}`,
      author: 'a',
      invocationId: 'i',
      timestamp: 1,
      content: { parts: [{ text }] },
      ...(partial ? { partial } : {}),
    },
  })
  const tokens = (message: string) => Array.from({ length: 600 }, (_, i) => said(message, `${i}`, true))
  const started = { kind: 'run.started' as const, agent: 'a', input: { messages: [] } }
  const first = [started, ...tokens('m'), ...tokens('cut'), said('m', 'whole', false)]
  const events = [
    ...first.map((event) => ({ run: 'r1', event })),
    { run: 'r1', event: { kind: 'run.finished' as const, outcome: 'cancelled' as const } },
    ...[started, ...tokens('m'), said('m', 'whole', false)].map((event) => ({ run: 'r2', event })),
  ]
  const rows = events.map((row, i) => ({ ...row, seq: i + 1, at: 1 }))
  await log.restore({ id: 's', user: 'u', agent: 'a' }, rows)
  const left = rows.filter(
    ({ run, event }) => run !== 'r1' || event.kind !== 'agent' || event.message !== 'm' || event.event.partial !== true,
  )
  expect(await log.read('s', { after: 0, brief: true })).toEqual(left)
  expect(await log.read('s', { after: 500, limit: 700, brief: true })).toEqual(
    left.filter(({ seq }) => seq > 500).slice(0, 700),
  )
  await log.close()
})
