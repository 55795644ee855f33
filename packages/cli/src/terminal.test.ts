import { expect, test } from 'vitest'
import {
  aligned,
  coloursFor,
  coloursOf,
  columnsOf,
  counted,
  durationText,
  hanging,
  oneLine,
  visible,
  widthOf,
} from './terminal.ts'

const painted = coloursFor(true).bad('x')

test.each<[string, { isTTY?: boolean }, Record<string, string>, boolean]>([
  ['a terminal', { isTTY: true }, {}, true],
  ['a pipe', {}, {}, false],
  ['NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }, false],
  ['an empty NO_COLOR', { isTTY: true }, { NO_COLOR: '' }, true],
  ['a terminal that knows no colours', { isTTY: true }, { TERM: 'dumb' }, false],
])('%s decides about colours', (_name, stream, env, colours) => {
  expect(coloursOf(stream, env).bad('x') === painted).toBe(colours)
})

test('columns are aligned by what a terminal shows', () => {
  expect(columnsOf(`${painted}日本🙂é`)).toBe(1 + 4 + 2 + 1)
  expect(aligned([['ab', painted, '1'], ['日本語', 'y', '23'], ['c']], [2])).toEqual([
    `ab      ${painted}   1`,
    '日本語  y  23',
    'c',
  ])
})

test('a text of the wire becomes one line that cannot move the cursor', () => {
  expect(oneLine('a\n\tb\u001b[2J  c\u009b1m')).toBe('a b[2J c1m')
  expect(oneLine('x'.repeat(50), 10)).toBe('xxxxxxxxx…')
  expect(oneLine('日本語日本語', 7)).toBe('日本語…')
  expect(visible('a\nb\u001b[31m\u202ec')).toBe('a\nb[31mc')
})

test('a long text goes on below its first line, where there is room', () => {
  expect(hanging('a long text that goes on and on', 4, 20)).toBe('a long text that\n    goes on and on')
  expect(hanging('a long text', 4, undefined)).toBe('a long text')
  expect(hanging('a long text that goes on', 10, 20)).toBe('a long text that goes on')
})

test('only a terminal has a width', () => {
  const streams = [{ isTTY: true, columns: 90 }, { isTTY: true }, { isTTY: true, columns: 0 }, { columns: 90 }]
  expect(streams.map(widthOf)).toEqual([90, 80, 80, undefined])
})

test('times and counts are written for people', () => {
  expect([12, 1400, 125_000].map(durationText)).toEqual(['12 ms', '1.4 s', '2 min 5 s'])
  expect([counted(1, 'frame'), counted(12_345, 'frame'), counted(2, 'reply', 'replies')]).toEqual([
    '1 frame',
    '12,345 frames',
    '2 replies',
  ])
})
