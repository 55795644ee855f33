import { expect, test } from 'vitest'
import { namedAgents } from './agents-argument.ts'
import { readSettings } from './settings.ts'

test.each([
  [['mine'], 'mine'],
  [['--port', '0', 'mine', '--watch'], 'mine'],
  [['--queue', 'mine', '--print-config'], 'mine'],
])('%j names the folder of the agents', (args, folder) => {
  const named = namedAgents(args).filter((arg) => arg !== '--watch' && arg !== '--print-config')
  expect(readSettings(named, {})).toMatchObject({ agents: folder })
})

test.each([[['one', 'two']], [['one', '--agents', 'two']]])('%j is one folder too many', (args) => {
  expect(readSettings(namedAgents(args), {})).toEqual({
    message: "millrace: unexpected argument 'one'; see millrace serve --help",
    code: 2,
  })
})

test('without a folder, the arguments stay as they are', () => {
  expect(namedAgents(['--port', '0', '--nonsense'])).toEqual(['--port', '0', '--nonsense'])
})
