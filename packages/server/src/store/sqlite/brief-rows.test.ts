import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Draft } from '@millrace/core'
import { afterAll, expect, test } from 'vitest'
import { sqliteLog } from './log.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-brief-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const said = (message: string, text: string, partial: boolean): Draft => ({
  run: 'r',
  event: {
    kind: 'agent',
    message,
    event: {
      id: text,
      author: 'a',
      invocationId: 'i',
      timestamp: 1,
      content: { role: 'model', parts: [{ text }] },
      ...(partial ? { partial } : {}),
    },
  },
})
const started: Draft = { run: 'r', event: { kind: 'run.started', agent: 'a', input: { messages: [] } } }
const finished: Draft = { run: 'r', event: { kind: 'run.finished', outcome: 'done' } }

// A message gets its id from the agent, which may be a server of others.
test.each([
  ['half a surrogate pair', 'a\ud83db'],
  ['U+0000', 'a\u0000b'],
  ['control characters and quotes', 'a\n\t"\'\\b'],
  ['a letter outside ASCII', 'ä\u2028😀'],
  ['the word null', 'null'],
])('a message whose id has %s is read briefly as every other', async (name, id) => {
  const log = await sqliteLog({ folder: join(root, name.replaceAll(' ', '-')), now: () => 1000 })
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const lease = await log.acquire('s', 'r', 'me', 1000)
  const partials = Array.from({ length: 9 }, (_, i) => said(id, String(i), true))
  const brief = async (): Promise<readonly number[]> =>
    (await log.read('s', { after: 0, brief: true })).map(({ seq }) => seq)
  await log.append('s', [started, ...partials], lease)
  await log.append('s', partials.slice(0, 1), lease)
  expect(await brief()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  await log.append('s', [said(id, 'all', false), finished], lease)
  expect(await brief()).toEqual([1, 12, 13])
  expect(await log.prune(2000)).toBe(10)
  await log.close()
})
