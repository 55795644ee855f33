import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AdkPart,
  type Dialect,
  dialects as dialectsByName,
  printFrame,
  type Recorded,
  type RunEvent,
  withSeq,
} from '@millrace/core'
import { sqliteLog, streams } from '@millrace/server'
import { expect, test } from 'vitest'
import { bench, said, scripted } from '../kit/engine-kit.ts'
import { full } from '../kit/full.ts'
import { SseClient } from '../kit/sse-client.ts'
import { serveStreams } from '../kit/stream-server.ts'
import { gate } from '../kit/waiting.ts'

const dialects = Object.values(dialectsByName)
const clientsEach = full ? 200 : 60
/** How many of them are there before the run begins, and at which number those begin that come when it has ended. */
const early = clientsEach * 0.75
const late = clientsEach * 0.95
const turns = 10

/** A bit of everything that a dialect may print, several frames an event and none, in and out of ASCII. */
function* happenings(turn: number): Generator<RunEvent> {
  const node = `root/worker@${turn + 1}`
  const call = { id: `call ${turn}`, name: 'look_up', args: { turn, né: [1, null, 'x\ny'] } }
  yield { kind: 'node.started', node, agent: 'worker' }
  yield said(`m${turn}`, 'tænker … ', { partial: true, author: 'worker' })
  yield said(`m${turn}`, '🌍\r\nand more ', { partial: true, author: 'worker' })
  yield said(`m${turn}`, 'tænker … 🌍\r\nand more ', { author: 'worker' })
  yield parts(`c${turn}`, [{ functionCall: call }])
  yield parts(`r${turn}`, [{ functionResponse: { id: call.id, name: call.name, response: { found: turn } } }])
  yield { kind: 'state', patch: [{ op: 'add', path: `/turn${turn % 5}`, value: { turn } }] }
  yield { kind: 'tasks', tasks: [{ id: 't', title: 'Task', status: 'in_progress', order: 0 }] }
  yield { kind: 'task.started', task: 't' }
  yield { kind: 'artifact', id: 'a', name: 'note.md', type: 'note', version: turn + 1, part: { text: 'x' } }
  yield { kind: 'task.finished', task: 't', status: 'done', result: 'ok' }
  yield { kind: 'log', level: 'info', message: `turn ${turn}` }
  yield { kind: 'foreign', dialect: 'adk', raw: '!not json', reason: 'test' }
  yield { kind: 'node.finished', node, status: 'ok' }
}
function parts(message: string, content: readonly AdkPart[]): RunEvent {
  const event = { id: message, author: 'worker', invocationId: 'i', timestamp: 1_700_000_000_000 }
  return { kind: 'agent', message, event: { ...event, content: { role: 'model', parts: content } } }
}

/** Drops at random points, some of them often, and comes back with its cursor until the server says that it is over. */
async function restless(client: SseClient): Promise<number> {
  let patience = 200 + Math.random() * 10_000
  for (let drops = 0; ; drops += 1) {
    // A little longer each time, or one that always leaves within the first event would never get on.
    const until = Math.random() * patience
    patience *= 1.5
    if (await client.read((received) => received > until)) return drops
  }
}

test(`${clientsEach} clients of one run in each of ${dialects.length} dialects drop and resume: each has every frame once`, async () => {
  const start = gate()
  const half = gate()
  const more = gate()
  const agent = scripted('busy', async function* () {
    await start.opened
    for (let turn = 0; turn < turns; turn += 1) {
      if (turn === turns / 2) half.open()
      if (turn === turns / 2) await more.opened
      for (const event of happenings(turn)) yield event
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
  const folder = mkdtempSync(join(tmpdir(), 'millrace-disconnect-'))
  const log = await sqliteLog({ folder, now: Date.now })
  const { engine, start: run } = bench([agent], { log })
  // Small windows, so that readers fall out of them and read the log, as they would on a long run.
  const out = streams({ log, dialects, retain: 16 * 1024, ahead: 8 * 1024 })
  const { server, port } = await serveStreams(out)
  try {
    await log.create({ id: 's', user: 'u', agent: 'busy' })
    const path = (dialect: Dialect) => `/?session=s&run=r&dialect=${encodeURIComponent(dialect.name)}`
    const calm = dialects.map((dialect) => new SseClient(port, path(dialect)))
    const whole = Promise.all(calm.map((client) => client.read()))
    const clients = dialects.map((dialect) =>
      Array.from({ length: clientsEach }, () => new SseClient(port, path(dialect))),
    )
    // Most are there before the run begins, some come in the middle, some when it is over.
    const first = clients.map((all) => all.slice(0, early).map(restless))
    await run('busy', { run: 'r' })
    start.open()
    await half.opened
    const middle = clients.map((all) => all.slice(early, late).map(restless))
    more.open()
    expect(await whole).toEqual(dialects.map(() => true))
    const last = clients.map((all) => all.slice(late).map(restless))
    const drops = (await Promise.all([...first, ...middle, ...last].flat())).reduce((sum, more) => sum + more, 0)
    expect(drops).toBeGreaterThan(clientsEach * dialects.length)
    const rows = await log.read('s', { after: 0 })
    for (const [i, dialect] of dialects.entries()) {
      expect(calm[i]!.text).toBe(printed(dialect, rows))
      const wrong = clients[i]!.filter(({ text }) => text !== calm[i]!.text)
      expect(wrong, `clients of ${dialect.name} that have something else`).toHaveLength(0)
    }
    expect(out.readers).toBe(0)
  } finally {
    out.close()
    server.closeAllConnections()
    server.close()
    await engine.shutdown(0)
    await log.close()
    rmSync(folder, { recursive: true })
  }
})

function printed(dialect: Dialect, rows: readonly Recorded[]): string {
  const encoder = dialect.encoder({ session: 's' })
  return rows.flatMap((row) => withSeq(encoder.push(row), row.seq).map(printFrame)).join('')
}
