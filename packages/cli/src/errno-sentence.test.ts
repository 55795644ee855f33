import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { errnoSentence } from './errno-sentence.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-errno-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'file')
writeFileSync(file, '')

test.each([
  ['a missing file', () => readFileSync(join(folder, 'none')), `there is no ${join(folder, 'none')}`],
  ['a file as a folder', () => writeFileSync(join(file, 'x'), ''), `${join(file, 'x')} cannot be used`],
])('%s is a sentence without the words of the system', (_name, work, sentence) => {
  let found: unknown
  try {
    work()
  } catch (error) {
    found = error
  }
  expect(errnoSentence(found)).toMatch(sentence)
})

test('an error that is not about a file is left as it is', () => {
  expect(
    [new Error('other'), Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })].map(errnoSentence),
  ).toEqual([undefined, undefined])
})
