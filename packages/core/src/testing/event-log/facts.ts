import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { sessionFacts } from '../../event/session-facts.ts'
import type { EventLog } from '../../log/event-log.ts'
import { dice } from '../dice.ts'
import { drafts, finished, type Kit, mine, note, partialEvent, rejection, started } from './kit.ts'

/** More turns than any store folds without a checkpoint. */
const turns = 100

export function factsContract({ check, expect }: Kit): void {
  check('SPEC 2.12: the facts of a session, at any seq, are those of its rows from the first on', async (log) => {
    await log.create(mine)
    expect(await log.facts('s')).toEqual(sessionFacts([]))
    for (let turn = 0; turn < turns; turn++) {
      await play(log, turn)
      if (turn % 30 === 0) await checkFacts(log, [turn, (await log.get('s'))?.lastSeq ?? 0])
    }
    const { lastSeq = 0 } = (await log.get('s')) ?? {}
    const random = dice(1)
    await checkFacts(log, [0, 1, lastSeq, ...Array.from({ length: 20 }, () => random(lastSeq))])
    expect(await log.facts('s', lastSeq + 10)).toEqual(await log.facts('s'))
  })
  check('facts know the open run, and pruning changes none', async (log, clock) => {
    await log.create(mine)
    for (let turn = 0; turn < 40; turn++) await play(log, turn)
    const before = await log.facts('s')
    clock.pass(10)
    expect(await log.prune(clock.now())).toBeGreaterThan(0)
    expect(await log.facts('s')).toEqual(before)
    const lease = await log.acquire('s', 'open', 'me', 10)
    const [row] = await log.append('s', drafts('open', started), lease)
    expect((await log.facts('s')).openRun).toEqual({ run: 'open', seq: row?.seq })
  })
  check('facts of a restored session, of one that was made again, and of none', async (log) => {
    await log.create(mine)
    for (let turn = 0; turn < turns; turn++) await play(log, turn)
    const rows = await log.read('s', { after: 0 })
    await log.restore({ ...mine, id: 't' }, rows)
    expect(await log.facts('t')).toEqual(sessionFacts(rows))
    const at = rows.at(rows.length / 2)?.seq ?? 0
    expect(await log.facts('t', at)).toEqual(upTo(rows, at))
    await log.remove('s')
    expect(await rejection(log.facts('s'))).toBe('not-found')
    await log.create(mine)
    expect(await log.facts('s')).toEqual(sessionFacts([]))
    expect(await rejection(log.facts('s', Number.NaN))).toBe('invalid')
  })
  check('what the caller does to facts, and the writer to its event, changes no fact', async (log) => {
    await log.create(mine)
    const value = { deep: [1] }
    await log.append('s', [{ run: '', event: { kind: 'state', patch: [{ op: 'add', path: '/a', value }] } }])
    value.deep.push(2)
    expect((await log.facts('s')).state).toEqual({ a: { deep: [1] } })
  })
  check('a run is found by its start', async (log) => {
    await log.create(mine)
    for (let turn = 0; turn < 3; turn++) await play(log, turn)
    const starts = (await log.read('s', { after: 0 })).filter(({ event }) => event.kind === 'run.started')
    for (const { run, seq } of starts) expect(await log.startOf('s', run)).toBe(seq)
    expect(await log.startOf('s', 'another')).toBe(undefined)
    await log.create({ ...mine, id: 't' })
    expect(await log.startOf('t', starts[0]?.run ?? '')).toBe(undefined)
    expect(await rejection(log.startOf('none', 'r'))).toBe('not-found')
  })

  async function checkFacts(log: EventLog, places: readonly number[]): Promise<void> {
    const rows = await log.read('s', { after: 0 })
    for (const at of places) expect(await log.facts('s', at)).toEqual(upTo(rows, at))
  }
}

function upTo(rows: readonly Recorded[], at: number) {
  return { ...sessionFacts(rows.filter(({ seq }) => seq <= at)), seq: at }
}

/** One run: a question or an answer, a message in pieces and whole, state, an artifact. */
async function play(log: EventLog, turn: number): Promise<void> {
  const run = `run ${turn}`
  const lease = await log.acquire('s', run, 'me', 1000)
  const state: RunEvent = { kind: 'state', patch: [{ op: 'add', path: `/key${turn % 7}`, value: { turn } }] }
  const question: RunEvent = { kind: 'interrupt', id: `q${turn}`, reason: 'confirmation' }
  const answer: RunEvent = { kind: 'resumed', interrupt: `q${turn - 1}`, status: 'resolved', payload: turn }
  const artifact: RunEvent = { kind: 'artifact', id: 'a', name: `a${turn % 3}`, type: 'document', version: turn }
  const events = [
    turn % 40 === 0 ? { ...started, forkOf: { session: 'o', seq: turn + 1 } } : started,
    partialEvent(run, 'one ', true),
    partialEvent(run, 'two', true),
    partialEvent(run, 'one two'),
    turn % 2 === 0 ? question : answer,
    state,
    artifact,
    note('n'),
    finished('done'),
  ]
  await log.append('s', drafts(run, ...events), lease)
  await log.release(lease)
}
