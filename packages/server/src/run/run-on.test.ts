import { type Change, forkSession } from '@millrace/core'
import type { Agent, RunContext } from '@millrace/server'
import { describe, expect, test } from 'vitest'
import { type Bench, bench, ending, note, scripted } from '../../../../test/kit/engine-kit.ts'
import { aborted } from '../../../../test/kit/waiting.ts'

/** An agent that can go on, and what it was given each time. */
function goesOn(resumable = false): { readonly agent: Agent; readonly given: RunContext[]; hangs: boolean } {
  const given: RunContext[] = []
  const own = scripted(
    'a',
    async function* (_input, context) {
      given.push(context)
      if (context.resumed && made.hangs) await aborted(context.signal)
      yield note(`tone ${String(context.state.tone)}`)
      yield note('end')
    },
    resumable,
  )
  const describe = async () => ({ ...(await own.describe()), capabilities: { runsOn: true } })
  const made = { agent: { ...own, describe }, given, hangs: false }
  return made
}

const patch = [{ op: 'add', path: '/tone', value: 'kind' }] as const

/** A run that has ended, and a fork of what came before it. */
async function changed(own: Bench, seq = 2): Promise<{ readonly run: string; goOn(): Promise<unknown> }> {
  const { run } = await own.start('a')
  await own.engine.wait('s', run)
  const change: Change = { field: 'state', run, seq, patch }
  const start = await own.engine.planChange({ session: 's', id: 's', change, by: 'ada' })
  own.clock.now += 86_400_000
  await forkSession(own.log, 's', 0, 'f')
  return { run, goOn: () => own.engine.runOn({ session: 'f', user: 'u', start }) }
}

describe('SPEC 4.10: a changed run', () => {
  test('goes on as one that was interrupted there, with its state changed', async () => {
    const { agent, given } = goesOn()
    const own = bench([agent])
    const { run, goOn } = await changed(own)
    expect(await goOn()).toEqual({ run, seq: 1 })
    expect(await own.engine.wait('f', run)).toBe('done')
    const rows = await own.rows('f')
    const kinds = rows.map(({ event }) => event.kind)
    expect(kinds).toEqual(['run.started', 'log', 'superseded', 'changed', 'state', 'log', 'log', 'run.finished'])
    expect(rows[5]?.event).toEqual(note('tone kind'))
    expect(rows[0]?.event).toMatchObject({ forkOf: { session: 's', seq: 0 } })
    expect(given[1]).toMatchObject({ resumed: true, run, state: { tone: 'kind' } })
    expect(given[1]?.history.map(({ event }) => event.kind)).toEqual(kinds.slice(0, 5))
    expect(own.audit.map(({ action }) => action)).toContain('run.change')
  })

  test('keeps the distances of the rows that it reuses, and they end when it goes on', async () => {
    const { agent } = goesOn()
    const own = bench([agent])
    const { run, goOn } = await changed(own)
    await goOn()
    await own.engine.wait('f', run)
    const times = (await own.rows('f')).map(({ at }) => at)
    expect(new Set(times)).toEqual(new Set([own.clock.now]))
  })

  test('is refused when all slots are taken, and leaves the session free', async () => {
    const { agent } = goesOn()
    const busy = scripted('busy', (_input, { signal }) => aborted(signal) as never)
    const own = bench([agent, busy], { limits: { perProcess: 1, queue: 0 } })
    const { goOn } = await changed(own)
    const other = await own.start('busy', { session: 'b' })
    await expect(goOn()).rejects.toMatchObject({ code: 'limit' })
    expect(await own.rows('f')).toEqual([])
    await own.engine.cancel('b', other.run)
    await own.engine.shutdown(0)
    await expect(goOn()).rejects.toMatchObject({ code: 'unavailable' })
  })

  test.each([
    [true, 'done'],
    [false, 'failed'],
  ] as const)('whose process dies is recovered like any other (resumable: %s)', async (resumable, outcome) => {
    const made = goesOn(resumable)
    const own = bench([made.agent], { owner: 'first' })
    const { run, goOn } = await changed(own)
    made.hangs = true
    await goOn()
    await expect.poll(() => made.given.length).toBe(2)
    made.hangs = false
    const next = bench([made.agent], { log: own.log, clock: own.clock, owner: 'second' })
    own.clock.now += 86_400_000
    await next.engine.recover()
    expect(await next.engine.wait('f', run)).toBe(outcome)
    const last = await ending(next, run, 'f')
    expect(last).toMatchObject({ outcome })
    if (resumable) expect(made.given.at(-1)?.state).toEqual({ tone: 'kind' })
    await own.engine.shutdown(0)
  })
})
