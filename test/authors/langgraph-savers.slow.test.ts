import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recorded } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorFolder } from '../kit/author-folder.ts'
import { built, type Served, serveBuilt } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'
import { type Postgres, startPostgres } from '../kit/postgres.ts'
import { follow } from './kit/killed.ts'
import { savedAgents } from './kit/saved-agents.ts'
import { logOf, runOnce, startTurn, stateOf, wrongWith } from './kit/session.ts'

// Graphs whose author has given them a saver with a database. Millrace keeps no checkpoints of its own for them: the
// conversation, the open question and the steps that are done must come back from that database after a SIGKILL.

interface SaverCase {
  readonly saver: string
  /** The folder of test/foreign that has its package. */
  readonly packages: string
  /** Code that makes it, and code that makes its database go away. */
  readonly make: (folder: string, url: string) => string
  readonly lose: string
}

const sqlite: SaverCase = {
  saver: 'SqliteSaver',
  packages: 'langgraph-savers',
  // A file for each agent: their processes write at the same time, and the driver does not wait for another's lock.
  make: () => `import { fileURLToPath } from 'node:url'
    import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
    const checkpointer = SqliteSaver.fromConnString(fileURLToPath(new URL('checkpoints.db', import.meta.url)))`,
  lose: 'checkpointer.db.close()',
}
const postgres: SaverCase = {
  saver: 'PostgresSaver',
  packages: 'langgraph-postgres',
  make: (_folder, url) => `import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
    const checkpointer = PostgresSaver.fromConnString(${JSON.stringify(url)})
    await checkpointer.setup()`,
  lose: 'await checkpointer.end()',
}

const spokenIn = (rows: readonly Recorded[]): readonly unknown[] =>
  rows.flatMap(({ event }) =>
    event.kind === 'agent' ? (event.event.content?.parts ?? []).map(({ text }) => text) : [],
  )
const logsIn = (rows: readonly Recorded[], part: string): readonly string[] =>
  rows.flatMap(({ event }) => (event.kind === 'log' && event.message.includes(part) ? [event.message] : []))
const endOf = (rows: readonly Recorded[]): unknown => rows.findLast(({ event }) => event.kind === 'run.finished')?.event

describe.each(full ? [sqlite, postgres] : [sqlite])('a graph with a $saver', ({ saver, packages, make, lose }) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-savers-'))
  const effects = join(folder, 'effects')
  const agents = join(folder, 'agents')
  const args = ['serve', '--port', '0', '--data-dir', join(folder, 'data'), '--agents', agents]
  const lines = (): readonly string[] => (existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : [])
  let database: Postgres | undefined
  let served: Served | undefined
  let address = ''

  beforeAll(async () => {
    await built()
    if (saver === 'PostgresSaver') database = await startPostgres()
    authorFolder(agents, savedAgents(make(folder, database?.url ?? ''), lose, effects))
    const modules = fileURLToPath(new URL(`../foreign/${packages}/node_modules`, import.meta.url))
    symlinkSync(modules, join(folder, 'node_modules'))
    const first = await serveBuilt(args)
    served = first
    await Promise.all([
      runOnce(first.address, 'chat', 's-chat', { say: 'red' }),
      runOnce(first.address, 'asks', 's-asks', { say: 'go' }),
    ])
    // The step `two` does not end before the kill.
    writeFileSync(`${effects}.held`, '')
    const run = await startTurn(first.address, 'steps', 's-steps', { say: 'go' })
    let nodes = 0
    // The kill breaks the stream.
    await follow(first.address, 's-steps', run, () => {
      nodes += 1
      if (nodes === 3) first.child.kill('SIGKILL')
    }).catch(() => {})
    await first.kill()
    rmSync(`${effects}.held`)
    served = await serveBuilt(args)
    address = served.address
  })
  afterAll(async () => {
    await served?.kill()
    await database?.stop()
    rmSync(folder, { recursive: true })
  })

  test('remembers the conversation after SIGKILL, in a thread that is the session', async () => {
    await runOnce(address, 'chat', 's-chat', { say: 'green' })
    const rows = await logOf(address, 's-chat')
    expect(spokenIn(rows)).toEqual(['red', 'red and green in s-chat'])
    expect(logsIn(rows, saver)).toEqual([`the graph keeps its checkpoints in its own ${saver}, in the thread s-chat`])
    expect(logsIn(rows, 'langgraph.checkpoint')).toEqual([])
    expect(wrongWith(rows)).toEqual([])
  })

  test('takes the answer to the question that it had asked before SIGKILL', async () => {
    await runOnce(address, 'asks', 's-asks', { answer: 'yes' })
    const rows = await logOf(address, 's-asks')
    expect(endOf(rows), JSON.stringify(endOf(rows))).toMatchObject({ outcome: 'done' })
    expect(spokenIn(rows)).toEqual(['you said yes'])
    expect(await stateOf(address, 's-asks')).toMatchObject({ answer: 'yes' })
    expect(lines().filter((line) => line === 'open')).toHaveLength(1)
    expect(wrongWith(rows)).toEqual([])
  })

  test('goes on with the steps that SIGKILL cut, and repeats no other', async () => {
    const started = (await logOf(address, 's-steps')).find(({ event }) => event.kind === 'run.started')
    await follow(address, 's-steps', started?.run ?? '', () => {})
    const rows = await logOf(address, 's-steps')
    expect(endOf(rows), JSON.stringify(endOf(rows))).toMatchObject({ outcome: 'done' })
    expect(await stateOf(address, 's-steps')).toMatchObject({ done: ['one', 'beside', 'two', 'three'] })
    expect(wrongWith(rows)).toEqual([])
    const cut = rows.flatMap(({ event }) => (event.kind === 'superseded' ? event.nodes : []))
    expect(cut).toContain('two@1')
    for (const name of ['one', 'two', 'beside', 'three']) {
      const times = lines().filter((line) => line === name).length
      const most = 1 + cut.filter((node) => node.startsWith(`${name}@`)).length
      expect([name, times >= 1, times <= most]).toEqual([name, true, true])
    }
  })

  test('is listed with it', async () => {
    const listed = await loadedAgents(address)
    expect(
      listed.map(({ name, checkpoints, checkpointer, error }) => [name, checkpoints, checkpointer, error]),
    ).toEqual(['asks', 'chat', 'gone', 'steps'].map((name) => [name, 'own', saver, undefined]))
  })

  test('fails with what it said when its database is gone, and runs no further node', async () => {
    const message = expect.stringMatching(`^the graph's own checkpointer \\(${saver}\\) failed: .+`)
    for (const say of ['first', 'second']) {
      await runOnce(address, 'gone', 's-gone', { say })
      const rows = await logOf(address, 's-gone')
      expect(endOf(rows)).toMatchObject({ outcome: 'failed', error: { code: 'agent-error', message } })
      expect(wrongWith(rows)).toEqual([])
    }
    expect(lines()).not.toContain('never')
    expect((await fetch(`${address}/agents`)).ok).toBe(true)
  })
})
