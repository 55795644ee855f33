import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { missingPackage, optionalPackages } from './optional-package.ts'
import { messageOf } from './problem.ts'

test.each([
  ["Cannot find package '@google/adk' imported from /srv/agents/weather/agent.js", '@google/adk@~2'],
  ["Cannot find module '@langchain/core/messages'\nRequire stack:\n- /srv/agents/desk/agent.ts", '@langchain/core@^1'],
  ["Cannot find package 'openai' imported from /srv/node_modules/@millrace/server/dist/x.js", 'openai@^6'],
])('%s: the error names the package and how to install it', (message, wanted) => {
  const said = messageOf(Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' }))
  expect(said).toMatch(/^(\S+) is not installed, and this agent needs it\. Run: npm install "\1@/)
  expect(said).toContain(wanted)
  expect(said).not.toContain('/srv')
})

test("a package of the author's own is left to Node's words", () => {
  expect(missingPackage("Cannot find package 'left-pad' imported from /srv/agents/weather/agent.js")).toBeUndefined()
  expect(missingPackage('the model said: Cannot find package')).toBeUndefined()
})

test('the versions are those of the package itself', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(optionalPackages).toEqual(manifest.peerDependencies)
  expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(Object.keys(optionalPackages))
})
