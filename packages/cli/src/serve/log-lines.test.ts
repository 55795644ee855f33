import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { logLines } from './log-lines.ts'

test('the lines of one turn are one write, in order; what the process leaves is written at its end', async () => {
  const written: string[] = []
  const lines = logLines((text) => written.push(text))
  lines.write('a\n')
  lines.write('b\n')
  expect(written).toEqual([])
  await nextTurn()
  expect(written).toEqual(['a\nb\n'])
  lines.write('c\n')
  lines.flush()
  lines.flush()
  await nextTurn()
  expect(written).toEqual(['a\nb\n', 'c\n'])
})
