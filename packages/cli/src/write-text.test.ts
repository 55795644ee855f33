import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { unwritable, writeText } from './write-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-write-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('missing folders are made, a link stays one, and nothing else is left', () => {
  const file = join(folder, 'a/b/report.xml')
  const link = join(folder, 'link.xml')
  writeText(file, 'one')
  symlinkSync(file, link)
  writeText(link, 'two')
  expect([readFileSync(file, 'utf8'), lstatSync(link).isSymbolicLink()]).toEqual(['two', true])
  expect(readdirSync(join(folder, 'a/b'))).toEqual(['report.xml'])
})

test('a file that cannot be replaced keeps its text', () => {
  const file = join(folder, 'kept.json')
  writeFileSync(file, 'before')
  // Where the new text would be written first.
  mkdirSync(`${file}.${process.pid}.new`)
  expect(() => writeText(file, 'after')).toThrow(`${file} is a folder`)
  expect(readFileSync(file, 'utf8')).toBe('before')
})

test('a file beside it that another command writes, or that has such a name, is left alone', () => {
  const file = join(folder, 'shared.xml')
  writeFileSync(`${file}.new`, 'of another')
  writeText(file, 'whole')
  expect([readFileSync(file, 'utf8'), readFileSync(`${file}.new`, 'utf8')]).toEqual(['whole', 'of another'])
})

test.each([
  ['EACCES', 'this user may not write r.xml; change its permissions, or name another place'],
  ['ENOSPC', 'r.xml cannot be written, because the disk is full'],
  ['EROFS', 'r.xml cannot be written, because its disk is read-only'],
  ['EMFILE', 'cannot write r.xml: the words of the system'],
])('%s is a sentence that names the file', (code, sentence) => {
  // The system does not name the file when a write fails after its opening.
  expect(unwritable('r.xml', Object.assign(new Error('the words of the system'), { code })).message).toBe(sentence)
})
