import { expect, test } from 'vitest'
import { memoryUse } from './memory.ts'
import { readSettings } from './settings.ts'
import { readShares } from './share-settings.ts'

test('limits name what one user may have, and what all may', () => {
  expect(readShares(['streams=100', 'all-streams=5000', ' bytes=2G', 'all-bytes=512m', ''])).toEqual({
    streams: { user: 100, all: 5_000 },
    bytes: { user: 2 * 2 ** 30, all: 512 * 2 ** 20 },
  })
})

test.each(['streams', 'streams=', 'streams=-1', 'streams=5k', 'storms=5', 'all-=5', 'bytes=1T'])(
  '%s is refused with a sentence that has the names',
  (entry) => {
    expect(readShares([entry])).toContain(
      `one of runs, starts, queued, streams, reads, writes, imports, forks, sessions, bytes, not '${entry}'`,
    )
    expect(readSettings(['--limit', entry], {})).toMatchObject({ code: 2 })
  },
)

test('a flag wins over its variable', () => {
  const settings = readSettings(['--limit', 'reads=5', '--max-memory', '512'], {
    MILLRACE_LIMITS: 'reads=9,all-reads=10',
    MILLRACE_MAX_MEMORY: '1024',
  })
  expect(settings).toMatchObject({ shares: { reads: { user: 5, all: 10 } }, maxMemory: 512 * 2 ** 20 })
  for (const bad of ['0', '63', 'much']) expect(readSettings(['--max-memory', bad], {})).toMatchObject({ code: 2 })
})

test('--queue lets runs wait, as many as a limit says', () => {
  const off = readSettings([], {})
  expect('message' in off || off.shares.queued).toBeUndefined()
  expect(readSettings(['--queue'], {})).toMatchObject({ shares: { queued: { user: 100, all: 1_000 } } })
  expect(readSettings(['--limit', 'queued=5'], { MILLRACE_QUEUE: 'on' })).toMatchObject({
    shares: { queued: { user: 5, all: 1_000 } },
  })
})

test('the process is measured against what it may take, or against the heap of Node', () => {
  const { used, most } = memoryUse(undefined)
  expect(used).toBeGreaterThan(0)
  expect(most).toBeGreaterThan(used)
  expect(memoryUse(2 ** 20)).toMatchObject({ most: 2 ** 20 })
})
