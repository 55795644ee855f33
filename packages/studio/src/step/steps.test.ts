import { type AdkPart, callsView, fold, type Recorded, type RunEvent, timelineView } from '@millrace/core'
import { expect, test } from 'vitest'
import { asTest } from './as-test.ts'
import { diffLines } from './difference.ts'
import { callKey, callsIn, nodeKey, stepAt, stepsOf } from './steps.ts'
import { readableJson, requestWords, spokenOf, toolNames } from './words.ts'

const said = (parts: readonly AdkPart[], role = 'model'): RunEvent => ({
  kind: 'agent',
  message: 'm',
  node: 'a@1',
  event: { id: 'm', author: 'a', invocationId: 'r', timestamp: 1, content: { role, parts } },
})
const events: readonly RunEvent[] = [
  { kind: 'run.started', agent: 'a', input: { messages: [] } },
  { kind: 'node.started', node: 'a@1', agent: 'a' },
  { kind: 'model.started', call: 'c1', agent: 'a', model: 'm', tools: 0, node: 'a@1' },
  said([{ functionCall: { id: 't1', name: 'look', args: {} } }]),
  { kind: 'model.finished', call: 'c1', status: 'ok', messages: ['m'], node: 'a@1' },
  said([{ functionResponse: { id: 't1', name: 'look', response: {} } }], 'user'),
  { kind: 'node.finished', node: 'a@1', status: 'ok' },
  { kind: 'run.finished', outcome: 'done' },
]
const rows = events.map((event, i): Recorded => ({ seq: i + 1, at: i, run: 'r', event }))
const calls = fold(callsView, rows)
const steps = stepsOf(calls, fold(timelineView, rows))
const keys = ['node r/a@1', 'call r/c1', 'call r/t1']

test('steps are executions and their calls, in the order of their starts', () => {
  expect(steps.map(({ key }) => key)).toEqual(keys)
  const execution = steps[0]?.execution
  if (execution === undefined) throw new Error('the first step is the execution')
  expect(nodeKey(execution)).toBe(keys[0])
  expect(callsIn(steps, execution).map(({ key }) => key)).toEqual(keys.slice(1))
})

test('the step at the cursor is the innermost one, unless a person chose another', () => {
  const at = (seq: number | undefined, key?: string) => steps[stepAt(steps, seq, { key })]?.key
  expect([at(1), at(2), at(3), at(4), at(6), at(7), at(8)]).toEqual([
    undefined,
    keys[0],
    keys[1],
    keys[2],
    keys[2],
    keys[0],
    keys[2],
  ])
  expect(at(undefined)).toBe(keys[2])
  expect(at(4, callKey('r', 'c1'))).toBe(keys[1])
  expect(at(4, 'gone')).toBe(keys[2])
  expect(stepAt([], 4)).toBe(-1)
})

test('where agents work side by side, the event at the cursor tells whose step it is', () => {
  const ofTwo: readonly RunEvent[] = [
    { kind: 'run.started', agent: 'a', input: { messages: [] } },
    { kind: 'node.started', node: 'a@1', agent: 'a' },
    { kind: 'node.started', node: 'b@1', agent: 'b' },
    { kind: 'model.started', call: 'c1', agent: 'a', model: 'm', tools: 0, node: 'a@1' },
    { kind: 'model.started', call: 'c2', agent: 'b', model: 'm', tools: 0, node: 'b@1' },
    said([{ text: 'I am a' }]),
    { kind: 'model.finished', call: 'c1', status: 'ok', messages: ['m'], node: 'a@1' },
    { kind: 'node.finished', node: 'a@1', status: 'ok' },
    { kind: 'state', patch: [], node: 'b@1' },
  ]
  const log = ofTwo.map((event, i): Recorded => ({ seq: i + 1, at: i, run: 'r', event }))
  const both = stepsOf(fold(callsView, log), fold(timelineView, log))
  const at = (seq: number) => both[stepAt(both, seq, { row: log[seq - 1] })]?.key
  expect([2, 3, 4, 5, 6, 7, 8, 9].map(at)).toEqual([
    'node r/a@1',
    'node r/b@1',
    'call r/c1',
    'call r/c2',
    'call r/c1',
    'call r/c1',
    'node r/a@1',
    'call r/c2',
  ])
})

test('the difference of two texts', () => {
  expect(diffLines('a\nb\nc', 'a\nx\nc\nd').map(({ kind, text }) => `${kind[0]}${text}`)).toEqual([
    'sa',
    'rb',
    'ax',
    'sc',
    'ad',
  ])
  expect(diffLines('same', 'same')).toEqual([{ kind: 'same', text: 'same' }])
  const long = (letter: string): string => Array.from({ length: 2100 }, (_, i) => `${letter}${i}`).join('\n')
  expect(diffLines(long('a'), long('b'))).toHaveLength(4200)
})

test('a line break inside a text of a result is a line, and nothing else is changed', () => {
  expect(readableJson({ result: 'One\nTwo "three" C:\\new \\\nend\t' })).toBe(
    '{\n  "result": "One\nTwo \\"three\\" C:\\\\new \\\\\nend\\t"\n}',
  )
  const answer = { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'a\nb' } } }] }
  expect(requestWords({ contents: [answer] }).split('\n')).toContain('b"')
})

test('words for people', () => {
  const parts = [{ text: 'hm', thought: true }, { functionCall: { name: 'f', args: {} } }, { inlineData: {} }]
  expect(spokenOf({ role: 'model', parts }).parts.map(({ kind }) => kind)).toEqual(['thought', 'call', 'other'])
  expect(spokenOf(null)).toEqual({ role: '', parts: [] })
  expect(requestWords({ system: 'Be brief.', contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] })).toBe(
    'system\nBe brief.\n\nuser\nHi',
  )
  expect(toolNames([{ functionDeclarations: [{ name: 'a' }] }, { function: { name: 'b' } }, { name: 'c' }, 1])).toEqual(
    ['a', 'b', 'c'],
  )
})

test('a step as a test names the view, the rows up to its end and what it gave', () => {
  const [node, model] = steps
  if (node === undefined || model === undefined) throw new Error('there are steps')
  expect(asTest(model, calls, rows)).toContain(
    "import { callsView, fold, modelAnswersOf, type Recorded } from '@millrace/core'",
  )
  expect(asTest(model, calls, rows)).toContain('"seq": 5')
  expect(asTest(model, calls, rows)).not.toContain('"seq": 6')
  expect(asTest(node, calls, rows)).toContain("import { fold, timelineView, type Recorded } from '@millrace/core'")
})
