import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceError } from '@millrace/core'
import { sqliteLog } from '@millrace/server'
import { afterAll, expect, test } from 'vitest'

/** Data folders where no log can be. Each is refused in a sentence, and none of them waits for ever. */
const root = mkdtempSync(join(tmpdir(), 'millrace-odd-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const at = (name: string): string => join(root, name)
const made = (name: string, make: (path: string) => void): (() => string) => {
  return () => {
    make(at(name))
    return at(name)
  }
}

test.each<[string, () => string]>([
  ['in /proc', () => '/proc/x'],
  ['deep in /proc', () => '/proc/x/y/z'],
  ['of a process', () => '/proc/self/data'],
  ['in /sys', () => '/sys/millrace'],
  ['a device', () => '/dev/null'],
  ['below a device', () => '/dev/null/x'],
  ['with U+0000', () => at('a\0b')],
  ['below a file', () => join(made('file', (path) => writeFileSync(path, ''))(), 'data')],
  ['a link to itself', made('loop', (path) => symlinkSync('loop', path))],
  ['a link to nothing', made('dangling', (path) => symlinkSync('nothing', path))],
  ['a name that is too long', () => at('x'.repeat(300))],
  ['a path that is too long', () => at('x/'.repeat(3000))],
  ['with a folder as its lock', made('lock', (path) => mkdirSync(join(path, 'millrace.lock'), { recursive: true }))],
  ['with a folder as its key', made('key', (path) => mkdirSync(join(path, 'millrace.key'), { recursive: true }))],
  ['with a folder as its database', made('db', (path) => mkdirSync(join(path, 'millrace.db'), { recursive: true }))],
])('a data folder %s is refused', async (_name, make) => {
  const error = await sqliteLog({ folder: make(), now: Date.now }).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(MillraceError)
  const { code, message, facts } = error as MillraceError
  expect(code).toBe('store-failed')
  expect(facts.reason).not.toBe('io')
  expect(message).toMatch(/^cannot (use|open) .*: .{20,}$/s)
})

test('a folder with an odd name is used', async () => {
  for (const name of [' ', 'é ?#%', ':memory:', 'http:', '-', 'a/../b', "x' OR 1"]) {
    const log = await sqliteLog({ folder: at(`odd/${name}`), now: Date.now })
    await log.create({ id: 's', user: 'u', agent: 'a' })
    await log.close()
  }
})
