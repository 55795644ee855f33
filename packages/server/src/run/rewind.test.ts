import type { InputMessage, RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { bench, said, scripted } from '../../../../test/kit/engine-kit.ts'
import { loadSession } from './load-session.ts'

const user = (id: string, text: string): InputMessage => ({
  id,
  role: 'user',
  content: { role: 'user', parts: [{ text }] },
})
const state = (path: string, value: number): RunEvent => ({ kind: 'state', patch: [{ op: 'add', path, value }] })

/** Records what its history and its state are, changes the state, and asks when it is told to. */
function recorder() {
  const seen: { readonly runs: readonly string[]; readonly state: unknown }[] = []
  const agent = scripted('a', async function* (input, { run, history, state: now }) {
    seen.push({ runs: [...new Set(history.map((row) => row.run))], state: now })
    yield state('/steps', Number(now.steps ?? 0) + 1)
    yield said(`${run}-m`, `answer of ${run}`)
    if (input.props?.ask === true) yield { kind: 'interrupt', id: `${run}-q`, reason: 'input_required' }
  })
  return { seen, agent }
}

test('SPEC 4.7: a run in the place of others sees what was before them, in history and in state', async () => {
  const { seen, agent } = recorder()
  const { start, engine, log, rows } = bench([agent])
  for (const run of ['r1', 'r2', 'r3']) {
    await start('a', { run, input: { messages: [user(`u-${run}`, 'go')] } })
    await engine.wait('s', run)
  }
  const input = { messages: [user('u-r2', 'go')], state: { theme: 'dark' } }
  await start('a', { run: 'r4', input, replaces: ['r2', 'r3'] })
  await engine.wait('s', 'r4')
  expect(seen.at(-1)).toEqual({ runs: ['r1'], state: { steps: 1, theme: 'dark' } })
  const [begun] = (await rows()).filter(({ run }) => run === 'r4')
  expect(begun?.event).toMatchObject({
    replaces: [
      // The message that is asked again stays where it is.
      { run: 'r2', messages: ['r2-m'], nodes: [] },
      { run: 'r3', messages: ['u-r3', 'r3-m'], nodes: [] },
    ],
  })
  const { facts } = await loadSession(log, (await log.get('s'))!)
  expect(facts.state).toEqual({ steps: 2, theme: 'dark' })
  await start('a', { run: 'r5', input: { messages: [user('u5', 'go')] } })
  await engine.wait('s', 'r5')
  expect(seen.at(-1)).toEqual({ runs: ['r1', 'r4'], state: { steps: 2, theme: 'dark' } })
})

test('SPEC 4.7: a question of a replaced run is void, and one that it answered is open again', async () => {
  const { agent } = recorder()
  const { start, engine, log } = bench([agent])
  const open = async () => [...(await loadSession(log, (await log.get('s'))!)).facts.open.keys()]
  const ask = { messages: [user('u1', 'go')], props: { ask: true } }
  await start('a', { run: 'r1', input: ask })
  await engine.wait('s', 'r1')
  const answer = { interrupt: 'r1-q', status: 'resolved', payload: 'yes' } as const
  await start('a', { run: 'r2', input: { ...ask, messages: [], resume: [answer] } })
  await engine.wait('s', 'r2')
  expect(await open()).toEqual(['r2-q'])
  await start('a', { run: 'r3', input: { messages: [], resume: [answer] }, replaces: ['r2'] })
  await engine.wait('s', 'r3')
  expect(await open()).toEqual([])
  await start('a', { run: 'r4', input: { messages: [user('u1', 'go')] }, replaces: ['r1', 'r3'] })
  expect(await engine.wait('s', 'r4')).toBe('done')
})

test('a key that the client removed is removed before the run, and a key that is not there is no problem', async () => {
  const { seen, agent } = recorder()
  const { start, engine } = bench([agent])
  await start('a', { run: 'r1', input: { messages: [user('u1', 'go')], state: { 'a/b': 1, theme: 'dark' } } })
  await engine.wait('s', 'r1')
  await start('a', { run: 'r2', input: { messages: [user('u2', 'go')] }, removed: ['a/b', 'unknown'] })
  await engine.wait('s', 'r2')
  expect(seen.at(-1)?.state).toEqual({ theme: 'dark', steps: 1 })
})
