import { expect, test } from 'vitest'
import { greeting } from './greeting.ts'

const served = { version: '1.2.3', address: 'http://127.0.0.1:8000', agents: 'agents', store: '.millrace' }

test('a script gets one line, a person also what is served and how to stop it', () => {
  expect(greeting(served, false)).toBe('Millrace 1.2.3 is listening on http://127.0.0.1:8000')
  const adkWeb = 'http://127.0.0.1:8000/dev-ui/'
  expect(greeting({ ...served, adkWeb }, false).split('\n')[1]).toBe(`adk-web is on ${adkWeb}`)
  expect(greeting({ ...served, agents: undefined, adkWeb }, true).split('\n')).toEqual([
    '',
    '  Millrace 1.2.3 is listening on http://127.0.0.1:8000',
    '',
    '  agents   the examples (millrace init makes a folder of your own)',
    '  log      .millrace',
    `  adk-web  ${adkWeb}`,
    '  stop     Ctrl-C',
    '',
  ])
})
