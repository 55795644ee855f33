import type { SessionInfo } from '@millrace/core'
import { expect, test } from 'vitest'
import { noticesBetween } from './changes.ts'

const session = (id: string, status: SessionInfo['status'], lastRun = 'r1'): SessionInfo => ({
  id,
  user: 'ann',
  agent: 'a',
  title: id,
  status,
  lastRun,
  lastSeq: 1,
  events: 1,
  runs: 1,
  createdAt: 1,
  updatedAt: 1,
})
const told = (before: readonly SessionInfo[], after: readonly SessionInfo[], shown?: string): readonly string[] =>
  noticesBetween(before, after, shown).map(({ info, text, lasting }) => `${info.id} ${text}${lasting ? ' …' : ''}`)

test('a session elsewhere that begins to wait or ends is told once', () => {
  const before = ['a', 'b', 'c', 'd'].map((id) => session(id, 'running'))
  const after = [session('a', 'interrupted'), session('b', 'done'), session('c', 'failed'), session('d', 'cancelled')]
  expect(told(before, after)).toEqual(['a waits for you …', 'b is done', 'c failed'])
  expect(told(after, after)).toEqual([])
  expect(
    told(
      after,
      after.map((info) => ({ ...info, title: 'renamed' })),
    ),
  ).toEqual([])
})

test('a session whose run was cut off is not told as failed', () => {
  const after = [{ ...session('a', 'failed'), cutOff: true as const }]
  expect(told([session('a', 'running')], after)).toEqual(['a was cut off'])
})

test('the first look, the session that is shown, and old sessions that come into the list tell nothing', () => {
  expect(told([], [session('a', 'done')])).toEqual([])
  expect(told([session('a', 'running')], [session('a', 'done')], 'a')).toEqual([])
  expect(told([session('a', 'idle')], [session('a', 'idle'), session('b', 'failed')])).toEqual([])
})

test('a run that began and ended between two looks is told', () => {
  expect(told([session('a', 'done', 'r1')], [session('a', 'done', 'r2')])).toEqual(['a is done'])
})
