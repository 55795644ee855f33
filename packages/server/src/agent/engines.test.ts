import { expect, test } from 'vitest'
import { entryEngines, fileEngines, isEngineRecord } from './engines.ts'

test('every engine has a name and a label of its own, and no two engines run the same export of a file', () => {
  const about = [...fileEngines, ...entryEngines].map((engine) => engine.about)
  expect(new Set(about.map(({ engine }) => engine)).size).toBe(about.length)
  expect(new Set(about.map(({ engineLabel }) => engineLabel)).size).toBe(about.length)
  const exported = fileEngines.flatMap((engine) => engine.exports)
  expect(new Set(exported).size).toBe(exported.length)
})

test('the log rows that an engine writes for itself are recognised, and only those', () => {
  expect(isEngineRecord({ kind: 'log', level: 'debug', message: 'langgraph.checkpoint' })).toBe(true)
  expect(isEngineRecord({ kind: 'log', level: 'debug', message: 'checkpoint' })).toBe(false)
  expect(isEngineRecord({ kind: 'run.finished', outcome: 'done' })).toBe(false)
})
