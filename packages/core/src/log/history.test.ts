import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sessions } from '../../../../test/kit/arbitrary-events.ts'
import { openRuns } from '../event/open-runs.ts'
import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import { ndjsonReader } from '../frame/ndjson.ts'
import { views } from '../view/registry.ts'
import { fold, type View } from '../view/view.ts'
import type { EventLog } from './event-log.ts'
import type { ImportLimits } from './export-reader.ts'
import { exportSession, forkSession, importSession } from './history.ts'
import { memoryLog } from './memory-log.ts'

const as = { id: 'copy', user: 'bob' }
const started = { kind: 'run.started', agent: 'a', input: { messages: [] } } as const
const note = (message: string) => ({ kind: 'log', level: 'info', message }) as const

function endsOfCutRuns(history: readonly Recorded[]): readonly Recorded[] {
  const open = openRuns()
  for (const row of history) open.push(row)
  return open.cutEnds()
}

function newLog(): EventLog {
  return memoryLog(() => 1000)
}

async function exported(log: EventLog, session = 's'): Promise<string[]> {
  const lines: string[] = []
  for await (const line of exportSession(log, session)) lines.push(line)
  return lines
}

function importText(log: EventLog, text: string, limits?: ImportLimits): ReturnType<typeof importSession> {
  const reader = ndjsonReader()
  return importSession(log, [...reader.feed(text), ...reader.end()], as, limits)
}

async function logOf(rows: readonly Recorded[]): Promise<EventLog> {
  const log = newLog()
  await log.restore({ id: 's', user: 'ann', agent: 'recovery', title: 'Tïtle' }, rows)
  return log
}

const rows: readonly Recorded[] = [
  { seq: 2, at: 5, run: 'r', event: started },
  { seq: 3, at: 6, run: 'r', event: { kind: 'node.started', node: 'a@1', agent: 'a' } },
  { seq: 4, at: 6, run: 'r', event: { kind: 'node.started', node: 'a/b@1', agent: 'b', parent: 'a@1' } },
  { seq: 7, at: 6.5, run: 'r', event: { kind: 'node.finished', node: 'a/b@1', status: 'ok' } },
  { seq: 8, at: 7, run: 'r', event: { kind: 'run.finished', outcome: 'done' } },
  { seq: 9, at: 8, run: '', event: note('after\u2028 all') },
]

describe('export and import', () => {
  test('SPEC 2.10: a header with versions, then one Recorded a line', async () => {
    const log = await logOf(rows)
    const [header = '', ...lines] = await exported(log)
    expect(JSON.parse(header)).toEqual({ format: 'millrace.session', version: 1, session: await log.get('s') })
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows)
    expect([header, ...lines].every((line) => !line.includes('\n'))).toBe(true)
  })
  test('SPEC 2.10: whatever was recorded comes back, and every view of it is the same', async () => {
    await fc.assert(
      fc.asyncProperty(sessions(), async (begun) => {
        const history = [...begun, ...endsOfCutRuns(begun)]
        const source = await logOf(history)
        const target = newLog()
        const info = await importText(target, (await exported(source)).join('\n'))
        const copy = await target.read('copy', { after: 0 })
        const original = await source.read('s', { after: 0 })
        expect(copy).toEqual(original)
        expect(allViews(copy)).toEqual(allViews(original))
        expect(info).toMatchObject({ ...as, agent: 'recovery', title: 'Tïtle', events: history.length })
        expect((await exported(target, 'copy')).slice(1)).toEqual((await exported(source)).slice(1))
      }),
      { numRuns: 60 },
    )
  })
  test('SPEC 2.10, 4.1: a run that the file leaves open is ended as cut, and nothing else is new', async () => {
    await fc.assert(
      fc.asyncProperty(sessions(), async (history) => {
        const source = await logOf(history)
        const target = newLog()
        const info = await importText(target, (await exported(source)).join('\n'))
        const copy = await target.read('copy', { after: 0 })
        expect(copy.slice(0, history.length)).toEqual(await source.read('s', { after: 0 }))
        expect(copy.slice(history.length)).toEqual(endsOfCutRuns(history))
        expect(info.status).not.toBe('running')
      }),
      { numRuns: 60 },
    )
  })
  test('stored text goes out as it is', async () => {
    const log = await logOf(rows)
    const raw: EventLog = {
      ...log,
      readRaw: async (id, options) =>
        (await log.read(id, options)).map(({ event, ...row }) => ({
          ...row,
          kind: 'other',
          body: JSON.stringify(event),
        })),
    }
    expect(await exported(raw)).toEqual(await exported(log))
  })
  test('a log of many pages; what is appended meanwhile is left out', async () => {
    const many = Array.from({ length: 1203 }, (_, i) => ({ seq: i + 1, at: i, run: '', event: note(`${i}`) }))
    const log = await logOf(many)
    const lines: string[] = []
    for await (const line of exportSession(log, 's')) {
      if (lines.length === 700) await log.append('s', [{ run: '', event: note('late') }])
      lines.push(line)
    }
    expect(lines.slice(1).map((line) => JSON.parse(line))).toEqual(many)
  })
  test('agent and title can be given; forkOf is kept', async () => {
    const source = newLog()
    const forkOf = { session: 'older', seq: 3 }
    await source.create({ id: 's', user: 'ann', agent: 'a', title: 't', forkOf })
    const [line = ''] = await exported(source)
    const info = await importSession(newLog(), [{ number: 1, text: line }], { ...as, agent: 'b', title: 'u' })
    expect(info).toMatchObject({ ...as, agent: 'b', title: 'u', forkOf })
  })
  test('an unknown session is not found; a taken id is a conflict', async () => {
    const log = await logOf(rows)
    await expect(exported(log, 'nobody')).rejects.toMatchObject({ code: 'not-found' })
    await log.create({ id: 'copy', user: 'x', agent: '' })
    await expect(importText(log, (await exported(log)).join('\n'))).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('bad imports: refused whole, with the line', () => {
  const row = (seq: number): string => JSON.stringify({ seq, at: 1, run: '', event: note('x') })
  const header = '{"format":"millrace.session","version":1,"session":{"agent":"a","title":"t"}}'
  const cases: readonly (readonly [string, number, string])[] = [
    ['', 1, 'nothing at all'],
    ['hello', 1, 'no JSON'],
    ['[1]', 1, 'no object'],
    [row(1), 1, 'no header'],
    [header.replace('millrace.session', 'other'), 1, 'another format'],
    [header.replace('"version":1', '"version":2'), 1, 'a newer version'],
    [header.replace('"agent":"a"', '"agent":7'), 1, 'a header without an agent'],
    [`${header}\n${row(1)}\n{"seq":2`, 3, 'a line that was cut'],
    [`${header}\n\n${row(1)}\n\nnull`, 5, 'blank lines count'],
    [`${header}\n${row(2)}\n${row(2)}`, 3, 'a seq twice'],
    [`${header}\n${row(5)}\n${row(4)}`, 3, 'seqs backwards'],
    [`${header}\n${row(0)}`, 2, 'seq 0'],
    [`${header}\n${row(1)}\n{"seq":2,"at":1,"run":"","event":{"kind":"nonsense"}}`, 3, 'an unknown event'],
    [
      `${header}\n${row(1)}\n{"seq":2,"at":"x","run":"","event":{"kind":"log","level":"info","message":""}}`,
      3,
      'no time',
    ],
    [`${header}\n${'['.repeat(20_000)}`, 2, 'nested without end'],
    [`${header}\n${header}`, 2, 'a second header'],
  ]
  test.each(cases)('%#: line %3$s', async (text, line) => {
    const log = newLog()
    const error = await importText(log, text).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(MillraceError)
    expect(error).toMatchObject({ code: 'invalid', facts: { line } })
    expect((await log.list({})).total).toBe(0)
  })
  test('too many rows, too much text and a line too long are a limit', async () => {
    const text = [header, row(1), row(2), row(3)].join('\n')
    await expect(importText(newLog(), text, { rows: 2 })).rejects.toMatchObject({ code: 'limit', facts: { line: 4 } })
    await expect(importText(newLog(), text, { nodes: 10 })).rejects.toMatchObject({ code: 'limit' })
    await expect(importText(newLog(), text, { text: 200 })).rejects.toMatchObject({ code: 'limit', facts: { line: 3 } })
    const truncated = [
      { number: 1, text: header },
      { number: 2, text: row(1), truncated: true },
    ]
    await expect(importSession(newLog(), truncated, as)).rejects.toMatchObject({ code: 'limit', facts: { line: 2 } })
    expect(await importText(newLog(), text, { rows: 3 })).toMatchObject({ events: 3 })
  })
})

describe('fork', () => {
  test('a copy up to a seq, which then goes its own way', async () => {
    const log = await logOf(rows)
    const info = await forkSession(log, 's', 8, 'f')
    expect(info).toMatchObject({ id: 'f', user: 'ann', agent: 'recovery', title: 'Tïtle', status: 'done', events: 5 })
    expect(info.forkOf).toEqual({ session: 's', seq: 8 })
    expect(await log.read('f', { after: 0 })).toEqual(rows.slice(0, 5))
    const lease = await log.acquire('f', 'r2', 'me', 10)
    const [row] = await log.append('f', [{ run: 'r2', event: started }], lease)
    expect(row?.seq).toBe(9)
    expect(await log.read('s', { after: 0 })).toEqual(rows)
  })
  test('SPEC 4.1, 4.4: a run that is cut is ended, its open nodes first', async () => {
    const log = await logOf(rows)
    const info = await forkSession(log, 's', 5, 'f') // between two seqs: the copy ends at 4
    expect(info).toMatchObject({ status: 'cancelled', lastSeq: 8 })
    const ends = (await log.read('f', { after: 4 })).map(({ seq, event }) => [
      seq,
      event.kind,
      'node' in event && event.node,
    ])
    expect(ends).toEqual([
      [6, 'node.finished', 'a/b@1'],
      [7, 'node.finished', 'a@1'],
      [8, 'run.finished', false],
    ])
    expect(await log.expired()).toEqual([])
  })
  test('any cut of any session has one end for every run, and nothing else is new', async () => {
    await fc.assert(
      fc.asyncProperty(sessions(), fc.nat(), async (history, place) => {
        const log = await logOf(history)
        const seq = history[place % history.length]?.seq ?? 0
        await forkSession(log, 's', seq, 'f')
        const copy = await log.read('f', { after: 0 })
        expect(copy.filter((row) => row.seq <= seq)).toEqual(
          (await log.read('s', { after: 0 })).filter((row) => row.seq <= seq),
        )
        const count = (kind: string): number => copy.filter(({ event }) => event.kind === kind).length
        expect(count('run.finished')).toBe(count('run.started'))
      }),
      { numRuns: 60 },
    )
  })
  test('at seq 0, at the end, and outside the log', async () => {
    const log = await logOf(rows)
    expect(await forkSession(log, 's', 0, 'f0')).toMatchObject({ status: 'idle', events: 0 })
    expect(await forkSession(log, 's', 9, 'f9')).toMatchObject({ status: 'done', events: 6 })
    for (const seq of [10, -1, 1.5, Number.NaN]) {
      await expect(forkSession(log, 's', seq, 'x')).rejects.toMatchObject({ code: 'invalid' })
    }
    await expect(forkSession(log, 'nobody', 1, 'x')).rejects.toMatchObject({ code: 'not-found' })
    await expect(forkSession(log, 's', 1, 's')).rejects.toMatchObject({ code: 'conflict' })
  })
})

/** Every view of these rows as JSON: lists and maps have private fields that `toEqual` cannot compare. */
function allViews(history: readonly Recorded[]): readonly string[] {
  const every: readonly View<unknown>[] = Object.values(views)
  return every.map((view) => JSON.stringify(fold(view, history)))
}
