import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { openStore, storeAt } from './open-store.ts'

test.each([
  ['.millrace', '.millrace'],
  ['/var/lib/mill race', '/var/lib/mill race'],
  ['C:\\mill', 'C:\\mill'],
  ['notes:2024', 'notes:2024'],
  ['file:data', 'data'],
  ['file:/var/lib/millrace', '/var/lib/millrace'],
  ['file:///var/lib/mill%20race', '/var/lib/mill race'],
])('%s is a SQLite folder', (text, folder) => {
  expect(storeAt(text)).toEqual({ kind: 'sqlite', folder })
})

test.each(['postgres://mill:secret@db/mill', 'PostgreSQL://db/mill'])('%s is a PostgreSQL database', (url) => {
  expect(storeAt(url, 'here')).toEqual({ kind: 'postgres', url, folder: 'here' })
})

test.each([
  ['postgres://mill:secret@db:port/mill', 'the database URL is not valid'],
  ['mysql://db/mill', 'mysql:// is not a store'],
  ['file:', 'file: names no folder'],
  ['file://elsewhere.example/%ZZ', 'names no folder'],
])('%s is refused in a sentence without its secrets', (text, sentence) => {
  expect(storeAt(text)).toContain(sentence)
  expect(storeAt(text)).not.toContain('secret')
})

test('a store opens, and has the same owner after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-store-'))
  const location = storeAt(pathToFileURL(folder).href)
  if (typeof location === 'string') throw new Error(location)
  const first = await openStore(location, Date.now)
  await first.log.create({ id: 's', user: 'u', agent: 'a' })
  await first.log.close()
  const second = await openStore(location, Date.now)
  expect(second.owner).toBe(first.owner)
  expect((await second.log.get('s'))?.id).toBe('s')
  await second.log.close()
  rmSync(folder, { recursive: true })
})
