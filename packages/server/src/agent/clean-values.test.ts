import type { Recorded } from '@millrace/core'
import { expect, test } from 'vitest'
import type { RunContext } from './agent.ts'
import { CallRecorder } from './call-recorder.ts'
import { CleanValues, cleanValuesOf } from './clean-values.ts'
import { secretsOf } from './model/settings.ts'

const tool = (name: string) => ({ name, headers: { authorization: 'Bearer of this name' }, note: 'sk-secret-0123' })
const clean = (name: string) => ({ name, headers: { authorization: '[redacted]' }, note: '[redacted]' })

test('a value is cleaned, and the next equal one is the same object', () => {
  const values = new CleanValues(['sk-secret-0123'])
  const first = values.of(tool('look'))
  expect(first.value).toEqual(clean('look'))
  expect(first.size).toBe(JSON.stringify(first.value).length)
  expect(values.of(tool('look'))).toBe(first)
  expect(values.of(tool('listen')).hash).not.toBe(first.hash)
})

test('a value that its author changes later is another one', () => {
  const values = new CleanValues([])
  const mine = { name: 'look' }
  const first = values.of(mine)
  mine.name = 'listen'
  expect(values.of(mine).value).toEqual({ name: 'listen' })
  expect(values.of({ name: 'look' })).toBe(first)
})

test('values that are used stay, however many others come; long ones are not kept', () => {
  const values = new CleanValues([])
  const used = values.of(tool('used'))
  const forgotten = values.of(tool('forgotten'))
  for (let i = 0; i < 40; i++) {
    values.of({ name: `other ${i}` })
    expect(values.of(tool('used'))).toBe(used)
  }
  expect(values.of(tool('forgotten'))).not.toBe(forgotten)
  const long = 'x'.repeat(100_001)
  expect(values.of(long)).not.toBe(values.of(long))
  expect(values.of(long)).toEqual(values.of(long))
})

test('the instructions of an agent are cleaned once for all its runs', () => {
  const settings = { googleApiKey: 'sk-secret-0123', openaiApiKey: 'none' }
  const history: readonly Recorded[] = []
  const context = {
    run: 'r',
    history,
    recording: { prompts: true },
    now: () => 1,
    resumed: false,
  } as unknown as RunContext
  const [first, second] = [1, 2].map(() => {
    const recorder = new CallRecorder(context, { messages: [] }, secretsOf(settings))
    const words = () => ({ contents: [], system: { text: 'Use sk-secret-0123, or none.' } })
    return recorder.begin({ agent: 'a', model: 'm', node: undefined, words }).started.request?.values
  })
  expect(Object.values(first ?? {})).toEqual([{ text: 'Use [redacted], or none.' }])
  expect(Object.values(second ?? {})[0]).toBe(Object.values(first ?? {})[0])
})

test('runs with the same settings share what is known, and others do not', () => {
  const settings = { googleApiKey: 'sk-secret-0123' }
  const mine = cleanValuesOf(secretsOf(settings))
  expect(cleanValuesOf(secretsOf(settings))).toBe(mine)
  expect(cleanValuesOf(secretsOf({ ...settings }))).not.toBe(mine)
})
