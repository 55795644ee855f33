import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readTokens } from './token-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-tokens-'))
afterAll(() => rmSync(folder, { recursive: true }))
const hex = (token: string): string => createHash('sha256').update(token).digest('hex')
const fileWith = (text: string): string => {
  const path = join(folder, 'tokens')
  writeFileSync(path, text)
  return path
}
const none = { flags: [], file: undefined }

test('tokens come from flags, a variable and a file, and are kept as hashes only', () => {
  const file = fileWith(`# people\n\nbob=token-of-bob\r\n  cy=sha256:${hex('token-of-cy').toUpperCase()}  \n`)
  const tokens = readTokens({ flags: ['ann=token-of-ann'], file }, { MILLRACE_TOKENS: 'dot=token-of-dot, ' })
  expect(tokens).toEqual(
    new Map(['ann', 'dot', 'bob', 'cy'].map((user) => [`sha256:${hex(`token-of-${user}`)}`, user])),
  )
  expect(readTokens(none, { MILLRACE_TOKEN_FILE: file })).toHaveProperty('size', 2)
  expect(readTokens(none, { MILLRACE_TOKENS: '', MILLRACE_TOKEN_FILE: '' })).toBeUndefined()
})

test.each([
  ['no tokens', '# nobody yet\n', 'has no token'],
  ['a line without a user', 'bob=token-of-bob\nsecret-token\n', 'line 2 of'],
  ['a hash that is too short', 'bob=sha256:secret\n', '64 hexadecimal digits'],
  ['one token twice', `bob=token-of-bob\nann=sha256:${hex('token-of-bob')}`, 'bob and ann have the same token'],
])('a file with %s is refused in a sentence without its tokens', (_name, text, sentence) => {
  const said = readTokens({ flags: [], file: fileWith(text) }, {})
  expect(said).toContain(sentence)
  expect(said).not.toMatch(/secret|token-of/)
})

test('a file that cannot be read is named', () => {
  expect(readTokens({ flags: [], file: join(folder, 'missing') }, {})).toMatch(/cannot read .*missing \(ENOENT\)/)
  expect(readTokens({ flags: [], file: folder }, {})).toMatch(/cannot read .* \(EISDIR\)/)
})
