import type { Interrupted, RunInput } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { type Bench, bench, ending, nothing, scripted } from '../../../../test/kit/engine-kit.ts'

const ask = (id: string, more: Partial<Interrupted> = {}): Interrupted => ({
  kind: 'interrupt',
  id,
  reason: 'confirmation',
  ...more,
})

/** Asks what the input's props say, and nothing when they are empty. */
const asker = scripted('asker', async function* ({ props }) {
  for (const id of Object.keys(props ?? {})) yield ask(id, props?.[id] as Partial<Interrupted>)
})
const input = (more: Partial<RunInput>): RunInput => ({ ...nothing, ...more })

async function asked(props: RunInput['props']): Promise<Bench> {
  const own = bench([asker])
  const { run } = await own.start('asker', { input: input({ props: props ?? {} }) })
  expect(await own.engine.wait('s', run)).toBe('interrupted')
  return own
}

describe('questions to a person', () => {
  test('SPEC 4.5: every open one must be answered, or the run is refused and nothing is written', async () => {
    const own = await asked({ q1: {}, q2: {} })
    const before = await own.rows()
    const answer = { interrupt: 'q1', status: 'resolved' } as const
    await expect(own.start('asker')).rejects.toMatchObject({ code: 'invalid', facts: { interrupt: 'q1' } })
    await expect(own.start('asker', { input: input({ resume: [answer] }) })).rejects.toMatchObject({
      code: 'invalid',
      facts: { interrupt: 'q2' },
    })
    expect(await own.rows()).toEqual(before)
    expect(await own.log.expired('me')).toEqual([])
    const resume = [{ ...answer, payload: { ok: true } }, { interrupt: 'q2', status: 'cancelled' } as const]
    const { run } = await own.start('asker', { input: input({ resume }) })
    expect(await own.engine.wait('s', run)).toBe('done')
    expect((await own.rows()).filter((row) => row.run === run).map(({ event }) => event)).toMatchObject([
      { kind: 'run.started' },
      { kind: 'resumed', interrupt: 'q1', status: 'resolved', payload: { ok: true } },
      { kind: 'resumed', interrupt: 'q2', status: 'cancelled' },
      { kind: 'run.finished', outcome: 'done' },
    ])
  })

  test('the same answer may be sent again; a different one is refused', async () => {
    const own = await asked({ q: {} })
    const resume = [{ interrupt: 'q', status: 'resolved', payload: 1 } as const]
    await own.engine.wait('s', (await own.start('asker', { input: input({ resume }) })).run)
    const { run } = await own.start('asker', { input: input({ resume }) })
    expect(await own.engine.wait('s', run)).toBe('done')
    expect(await own.kinds(run)).toEqual(['run.started', 'run.finished'])
    const changed = [{ interrupt: 'q', status: 'resolved', payload: 2 } as const]
    await expect(own.start('asker', { input: input({ resume: changed }) })).rejects.toMatchObject({ code: 'invalid' })
    const unknown = [{ interrupt: 'never', status: 'resolved' } as const]
    await expect(own.start('asker', { input: input({ resume: unknown }) })).rejects.toMatchObject({ code: 'invalid' })
  })

  test('one that has expired can only be cancelled', async () => {
    const own = await asked({ q: { expiresAt: '1970-01-01T00:00:05Z' } })
    own.clock.now = 5_000
    const answer = (status: 'resolved' | 'cancelled') =>
      own.start('asker', { input: input({ resume: [{ interrupt: 'q', status }] }) })
    await expect(answer('resolved')).rejects.toMatchObject({ code: 'invalid' })
    expect(await own.engine.wait('s', (await answer('cancelled')).run)).toBe('done')
  })

  test('the result of the call that waits is an answer', async () => {
    const own = await asked({ q: { call: 'call-1' } })
    const functionResponse = { id: 'call-1', name: 'f', response: { value: 42 } }
    const messages = [{ id: 'm', role: 'tool', content: { parts: [{ functionResponse }] } } as const]
    const { run } = await own.start('asker', { input: { messages } })
    await own.engine.wait('s', run)
    expect((await own.rows()).find(({ event }) => event.kind === 'resumed')?.event).toEqual({
      kind: 'resumed',
      interrupt: 'q',
      status: 'resolved',
      payload: { value: 42 },
    })
  })

  test('an answer that the agent records too is recorded once', async () => {
    const echo = scripted('asker', async function* ({ resume = [] }) {
      if (resume.length === 0) yield ask('q')
      for (const answer of resume) yield { kind: 'resumed', ...answer }
    })
    const own = bench([echo])
    await own.engine.wait('s', (await own.start('asker')).run)
    const { run } = await own.start('asker', { input: input({ resume: [{ interrupt: 'q', status: 'resolved' }] }) })
    await own.engine.wait('s', run)
    expect(await own.kinds(run)).toEqual(['run.started', 'resumed', 'run.finished'])
  })

  test('one whose run failed or was cancelled is closed with it', async () => {
    const failing = scripted('asker', async function* () {
      yield ask('q')
      throw new Error('boom')
    })
    const own = bench([failing])
    const { run } = await own.start('asker')
    expect(await own.engine.wait('s', run)).toBe('failed')
    expect((await own.kinds(run)).slice(-2)).toEqual(['resumed', 'run.finished'])
    await ending(own, run)
    await own.engine.wait('s', (await own.start('asker')).run)
  })
})
