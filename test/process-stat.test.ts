import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { processStat } from '../scripts/process-stat.mjs'

test('the figures of a process are in the places where Linux has them; other systems have none', () => {
  const stat = processStat(process.pid)
  const { user, system } = process.cpuUsage()
  if (!existsSync('/proc/self/stat')) return expect(stat).toBeUndefined()
  expect(stat).toMatchObject({ state: expect.stringMatching(/^[RS]$/), parent: process.ppid })
  expect(stat?.own).toBeGreaterThan(0)
  // Rounded to ticks, each of the two.
  expect(stat?.own).toBeLessThanOrEqual((user + system) / 1000 + 20)
})

test('a process that is not there has none', () => expect(processStat(2 ** 30)).toBeUndefined())
