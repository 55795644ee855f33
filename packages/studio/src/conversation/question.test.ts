import { expect, test } from 'vitest'
import { questionParts } from './question.ts'

test('a question offers the answers of its author, and repeats nothing that its sentence says', () => {
  const payload = { question: 'Publish?', draft: 'One\nTwo', options: ['yes', 'no'] }
  expect(questionParts(payload, 'Publish?')).toEqual({ details: { draft: 'One\nTwo' }, choices: ['yes', 'no'] })
  expect(questionParts({ choices: ['a'] }, undefined)).toEqual({ details: undefined, choices: ['a'] })
  expect(questionParts('Name?', 'Name?')).toEqual({ details: undefined, choices: [] })
  expect(questionParts(null, 'Name?')).toEqual({ details: undefined, choices: [] })
  expect(questionParts(['a', 'b'], 'Name?')).toEqual({ details: ['a', 'b'], choices: [] })
})

test.each([
  [['yes', 'yes']],
  [['yes', 2]],
  [[]],
  [['']],
  ['yes or no'],
  [Array.from({ length: 9 }, (_, i) => `answer ${i}`)],
  [['a long answer '.repeat(9)]],
])('options that are no short list of different texts are shown as they are: %j', (options) => {
  expect(questionParts({ options }, 'Which?')).toEqual({ details: { options }, choices: [] })
})

test('where the answer is a form, which has no buttons, what is offered is a detail', () => {
  const payload = { question: 'Which?', options: ['yes', 'no'] }
  expect(questionParts(payload, 'Which?', false)).toEqual({ details: { options: ['yes', 'no'] }, choices: [] })
})
