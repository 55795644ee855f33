import { type EventLog, fold, memoryLog, type Recorded, type ViewName, views } from '@millrace/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { defaultViewLimits, type ViewLimits, viewReads } from './view-reads.ts'

const never = new AbortController().signal
const all = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

/** Rows of runs with nodes, state and messages; each with so much text. */
const rowsOf = (count: number, size: number): readonly Recorded[] =>
  Array.from({ length: count }, (_, i): Recorded => {
    const [seq, at, run] = [i + 1, 1000 + i, `r${Math.floor(i / 5)}`]
    const node = 'writer@1'
    if (i % 5 === 0) return { seq, at, run, event: { kind: 'run.started', agent: 'a', input: { messages: [] } } }
    if (i % 5 === 1) return { seq, at, run, event: { kind: 'node.started', node, agent: 'writer' } }
    if (i % 5 === 4) return { seq, at, run, event: { kind: 'run.finished', outcome: 'done' } }
    const actions = { stateDelta: { [`k${i % 7}`]: 'x'.repeat(size) } }
    const event = { id: `e${i}`, author: 'writer', invocationId: run, timestamp: at, actions }
    return { seq, at, run, event: { kind: 'agent', message: `m${i}`, node, event } }
  })

describe('the views of sessions', () => {
  let log: EventLog
  const sessions = { short: rowsOf(50, 10), long: rowsOf(400, 4000) }
  beforeAll(async () => {
    log = memoryLog(() => 1)
    for (const [id, rows] of Object.entries(sessions)) await log.restore({ id, user: 'u', agent: 'a' }, rows)
  })
  const info = async (id: string) => {
    const session = await log.get(id)
    if (session === undefined) throw new Error(`no session ${id}`)
    return session
  }
  const reads = (limits: Partial<ViewLimits> = {}) => viewReads(log, { ...defaultViewLimits, ...limits })

  test.each(['short', 'long'] as const)('a %s session: every view is the fold of its rows, at any seq', async (id) => {
    const { view } = reads()
    const session = await info(id)
    for (const name of Object.keys(views) as ViewName[]) {
      for (const at of [undefined, 0, 23]) {
        const rows = sessions[id].filter(({ seq }) => at === undefined || seq <= at)
        const text = await all(view(name, { session, at, user: 'u', signal: never }))
        expect(text === JSON.stringify(fold(views[name] as never, rows)), `${name} at ${at}`).toBe(true)
      }
    }
  })

  test('the state is that of the facts, at any seq', async () => {
    const session = await info('long')
    for (const at of [undefined, 0, 23, 9999]) {
      const { seq, state } = await log.facts('long', at)
      const text = await all(reads().state({ session, at, user: 'u', signal: never }))
      expect(text === JSON.stringify({ seq, state }), `at ${at}`).toBe(true)
    }
  })

  test('a view that takes more memory than a thread may use is refused', async () => {
    const heavy: Recorded[] = rowsOf(40, 1).map((row) => ({ ...row, event: { kind: 'state', patch: [] } }))
    for (const row of heavy) {
      const value = Array.from({ length: 60_000 }, () => [])
      Object.assign(row, { event: { kind: 'state', patch: [{ op: 'add', path: `/k${row.seq}`, value }] } })
    }
    await log.restore({ id: 'heavy', user: 'u', agent: 'a' }, heavy)
    const { view } = reads({ viewMemory: 24 })
    const read = all(view('state', { session: await info('heavy'), at: undefined, user: 'u', signal: never }))
    await expect(read).rejects.toMatchObject({ facts: { http: 'too-large' } })
  })

  test('a client that leaves ends its thread, and the next one has its turn', async () => {
    const { view } = reads({ reads: 1 })
    const session = await info('long')
    const left = new AbortController()
    const read = view('state', { session, at: 300, user: 'u', signal: left.signal })
    const first = read.next()
    left.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
    expect(await all(view('usage', { session, at: undefined, user: 'u', signal: never }))).toContain('{')
  })
})
