import { expect, test } from 'vitest'
import type { RunEvent } from '../event/run-event.ts'
import { snippetOf } from './find-snippet.ts'
import { findTexts } from './find-text.ts'
import { queryWords } from './find-words.ts'

const texts = (event: object): readonly string[] =>
  findTexts(event as RunEvent).map(({ kind, author, text }) => `${kind} ${author}: ${text}`)
const problem = { code: 'agent-error', message: 'broke', source: '500' }
const node = 'chief/scout@2'

test.each<[object, readonly string[]]>([
  [
    {
      kind: 'state',
      patch: [
        { op: 'remove', path: '/a/b' },
        { op: 'move', path: '/c', from: '/d' },
      ],
      node,
    },
    ['state scout: a/b, c'],
  ],
  [{ kind: 'state', patch: [{ op: 'replace', path: '', value: { x: [{ y: 1 }] } }] }, ['state : x, y']],
  [{ kind: 'state', patch: [{ op: 'add', path: 7, value: 1 }] }, []],
  [{ kind: 'state', patch: {} }, []],
  [{ kind: 'node.finished', node, status: 'error', error: problem }, ['error scout: broke agent-error 500']],
  [{ kind: 'node.finished', node, status: 'ok' }, []],
  [{ kind: 'model.finished', call: 'c', status: 'error', error: problem }, ['error : broke agent-error 500']],
  [{ kind: 'log', level: 'warn', message: 'slow', node: 'solo' }, ['error solo: slow']],
  [{ kind: 'log', level: 'info', message: 'fine' }, []],
  [{ kind: 'foreign', dialect: 'adk', raw: '{', reason: 'not JSON' }, ['error : not JSON {']],
  [
    { kind: 'interrupt', id: 'q', reason: 'r', message: 'Really?', payload: { tool: 'book' }, node },
    ['message scout: Really? tool: book'],
  ],
  [
    { kind: 'resumed', interrupt: 'q', status: 'resolved', payload: { confirmed: true, why: null } },
    ['message user: confirmed: true, why: '],
  ],
  [
    { kind: 'tasks', tasks: [{ id: 't', title: 'One', result: 'done', status: 'done', order: 0 }] },
    ['plan : One done'],
  ],
  [{ kind: 'tasks.changed', changes: [{ task: 't', title: 'Two', description: 'more' }] }, ['plan : Two more']],
  [{ kind: 'task.finished', task: 't', status: 'done', result: 'written' }, ['plan : written']],
  [{ kind: 'task.reflected', task: 't', text: 'well' }, ['plan : well']],
  [
    { kind: 'artifact', id: 'a', name: 'Notes', type: 'note', version: 1, part: { text: '# Notes' } },
    ['plan : Notes # Notes'],
  ],
  [
    { kind: 'data', id: 'd', operation: 'create', itemType: 'contact', item: { name: 'Ada', tags: ['x', 2] } },
    ['plan : contact name: Ada, tags: x, 2'],
  ],
  [{ kind: 'task.started', task: 't' }, []],
  [{ kind: 'agent', event: { author: 'a', partial: true, content: { parts: [{ text: 'x' }] } } }, []],
  [
    { kind: 'agent', event: { author: 'a', errorCode: 'E', errorMessage: 'bad', actions: { transferToAgent: 'b' } } },
    ['error a: E bad', 'agent a: b'],
  ],
  [
    {
      kind: 'run.started',
      agent: 'a',
      input: { messages: [{ role: 'system', content: { parts: [{ text: 'no' }] } }], state: { k: 1 } },
    },
    ['state user: k', 'agent a: a'],
  ],
  [
    {
      kind: 'run.started',
      agent: 'a',
      input: { messages: [{ role: 'user', name: 'Ada', content: { parts: [{ text: 'yes' }] } }] },
    },
    ['message Ada: yes', 'agent a: a'],
  ],
  [{ kind: 'run.started', agent: '', input: {} }, []],
])('%j is found by %j', (event, found) => expect(texts(event)).toEqual(found))

test('huge and deep values are bounded', () => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, 'value']))
  let deep: object = { word: 1 }
  for (let i = 0; i < 600; i++) deep = { deep }
  for (const value of [wide, deep, ['x'.repeat(100_000), 'y']]) {
    const call = {
      kind: 'agent',
      event: { author: 'a', content: { parts: [{ functionCall: { name: 'f', args: value } }] } },
    }
    expect(texts(call)[0]?.length).toBeLessThan(33_000)
    expect(texts({ kind: 'state', patch: [{ op: 'add', path: '/a', value }] })[0]?.length).toBeLessThan(33_000)
  }
})

const marked = (text: string, query: string): readonly string[] => {
  const words = queryWords(query)
  if (words === undefined) return ['no words']
  const snippet = snippetOf(text, words)
  return snippet.marks.map(([start, end]) => snippet.text.slice(start, end))
}

test('marks lie on the words, whatever folding does to their length', () => {
  expect(marked('the ﬁnance office', 'finance')).toEqual(['ﬁnance'])
  expect(marked('call getWeather now', 'weath')).toEqual(['Weath'])
  expect(marked('call getWeather now', 'get now')).toEqual(['get', 'now'])
  expect(marked('nothing of it', 'absent')).toEqual([])
  expect(marked(`${'😀'.repeat(50)}anchor`, 'anchor')).toEqual(['anchor'])
  expect(marked('anchor', '?!')).toEqual(['no words'])
})

test('a snippet without a space near its start, and one whose match is far in, never cuts a letter in two', () => {
  const words = queryWords('anchor')
  for (const pad of [39, 40, 41, 42]) {
    const text = `${'😀'.repeat(pad)} anchor ${'😀'.repeat(100)}`
    expect(words === undefined ? '' : snippetOf(text, words).text).not.toMatch(/\p{Cs}/u)
  }
})
