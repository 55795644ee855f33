import { expect, test } from 'vitest'
import { authorPlace, knowAuthorFolder, thrownAt, withoutPaths } from './author-place.ts'

knowAuthorFolder('/srv/my agents')
const thrown = (...frames: readonly string[]): Error =>
  Object.assign(new Error('boom'), { stack: ['Error: boom', ...frames.map((frame) => `    at ${frame}`)].join('\n') })

test.each([
  ['a function', 'lookup (/srv/my agents/weather/agent.ts:7:11)', 'weather/agent.ts:7'],
  ['a module that Node loaded', 'file:///srv/my%20agents/weather/tools.mjs:3:1', 'weather/tools.mjs:3'],
  ['a package of the author', 'x (/srv/my agents/node_modules/p/index.js:1:1)', undefined],
  ['code elsewhere', 'x (/usr/lib/x.js:1:1)', undefined],
])('the place of %s', (_, frame, place) => {
  expect(authorPlace(thrown('run (node:internal/x:1:1)', frame))).toBe(place)
})

test('an error that is not the author’s has no row', () => {
  expect(thrownAt(thrown('x (/usr/lib/x.js:1:1)'), 'the tool x', 'boom')).toBeUndefined()
  expect(thrownAt('a text', 'the tool x', 'a text')).toBeUndefined()
})

test.each([
  ["open '/srv/my agents/weather/data.json'", "open 'weather/data.json'"],
  ["ENOENT: open '/usr/share/secret/x.json'", "ENOENT: open 'x.json'"],
  ['see file:///usr/share/x.js', 'see x.js'],
  ['POST https://models.example/usr/chat failed', 'POST https://models.example/usr/chat failed'],
  ['404 for /v1/chat/completions', '404 for /v1/chat/completions'],
])('%s', (text, clean) => {
  expect(withoutPaths(text)).toBe(clean)
})
