import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteLog } from '@millrace/server'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { main } from '../main.ts'
import { moveProgress } from './progress.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-move-'))
const home = join(folder, 'home')
beforeAll(async () => {
  writeFileSync(join(folder, 'some.db'), '')
  const log = await sqliteLog({ folder: home, now: Date.now })
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await log.append('s', [{ run: '', event: { kind: 'log', level: 'info', message: 'hello' } }])
  await log.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

let printed: string[] = []
beforeEach(() => {
  printed = []
  vi.spyOn(console, 'log').mockImplementation((text: unknown) => void printed.push(String(text)))
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text: unknown) => printed.push(String(text)) > 0)
})
afterEach(() => vi.restoreAllMocks())

test.each([
  [[], '--from is missing'],
  [['--from', home], '--to is missing'],
  [['--from', home, '--to', home], 'the same store'],
  [['--from', join(folder, 'nothing'), '--to', folder], 'there is no millrace.db'],
  [['--from', join(folder, 'some.db'), '--to', folder], 'is not a data folder'],
  [['--from', 'mysql://x', '--to', folder], 'is not a store'],
  [['--frm', home], "unknown option '--frm'"],
])('wrong arguments %j end with code 2 and a sentence', async (args, sentence) => {
  expect(await main(['move', ...args], undefined, {})).toBe(2)
  expect(printed.join('\n')).toContain(sentence)
})

test('one data folder moves into another, by variables, and the help names every flag', async () => {
  const to = join(folder, 'new')
  expect(await main(['move', '--json'], undefined, { FROM_DATABASE_URL: `file:${home}`, TO_DATABASE_URL: to })).toBe(0)
  expect(JSON.parse(printed[0] ?? '')).toMatchObject({ sessions: 1, already: 0, events: 1, secret: true })
  expect(await main(['move', '--help'], undefined, {})).toBe(0)
  for (const flag of ['--from', '--to', '--merge', '--json']) expect(printed.join('')).toContain(flag)
})

test('progress is a bar in a terminal, and a line for each tenth elsewhere', () => {
  const written: string[] = []
  const write = (text: string): unknown => written.push(text)
  const bar = moveProgress({ isTTY: true, write })
  for (const events of [1, 50, 100]) bar('moved', events, 100)
  expect(written.join('')).toContain('[###############...............] 50 %  moved 50 of 100 events')
  expect(written.at(-1)).toMatch(/\n$/)
  written.length = 0
  const lines = moveProgress({ write })
  for (let events = 1; events <= 100; events++) lines('moved', events, 100)
  expect(written).toHaveLength(11)
  expect(written.at(-1)).toBe('moved 100 %: moved 100 of 100 events\n')
})
