import { expect, test } from 'vitest'
import { readSettings } from './settings.ts'

test('how long to wait and what to keep: flags win over env, days and seconds become milliseconds', () => {
  expect(readSettings([], {})).toMatchObject({ grace: 5_000, retain: undefined })
  expect(readSettings([], { GRACE: '30', RETAIN_DAYS: '0.5' })).toMatchObject({ grace: 30_000, retain: 43_200_000 })
  expect(readSettings(['--grace', '0', '--retain-days', '1'], { GRACE: '30', RETAIN_DAYS: '7' })).toMatchObject({
    grace: 0,
    retain: 86_400_000,
  })
})

test.each([
  [['--grace', 'soon'], 'seconds'],
  [['--grace=-1'], 'seconds'],
  [['--grace', '9'.repeat(9)], 'seconds'],
  [['--retain-days', 'all'], 'days'],
  [['--retain-days', ''], 'days'],
])('%s is refused with a sentence and 2', (args, word) => {
  expect(readSettings(args, {})).toEqual({ say: expect.stringContaining(word), code: 2 })
})
