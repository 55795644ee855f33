import { describe, expect, test } from 'vitest'
import { answerOf, decidedWords, reviewOf } from './decisions.ts'

const snake = {
  action_requests: [{ name: 'mail', args: { to: 'ann' }, description: 'Review it' }],
  review_configs: [{ action_name: 'mail', allowed_decisions: ['approve', 'edit', 'reject'] }],
}
const camel = {
  actionRequests: [
    { name: 'mail', args: { to: 'ann' } },
    { name: 'drop', args: {} },
  ],
  reviewConfigs: [
    { actionName: 'mail', allowedDecisions: ['approve', 'edit'], argsSchema: { type: 'object' } },
    { actionName: 'drop', allowedDecisions: ['reject', 'respond'] },
  ],
}

describe('a review of tool calls', () => {
  test('is read in both spellings of LangChain', () => {
    expect(reviewOf(snake)).toEqual({
      snake: true,
      actions: [
        { name: 'mail', args: { to: 'ann' }, description: 'Review it', allowed: ['approve', 'edit', 'reject'] },
      ],
    })
    expect(reviewOf(camel)?.actions.map(({ name, allowed }) => [name, allowed])).toEqual([
      ['mail', ['approve', 'edit']],
      ['drop', ['reject', 'respond']],
    ])
  })

  test.each([undefined, null, 'Go?', [], { action_requests: [] }, { action_requests: [{}] }])(
    'is not %j',
    (payload) => {
      expect(reviewOf(payload)).toBeUndefined()
    },
  )

  test('is answered with one decision for each action, in the spelling of the question', () => {
    const [python, js] = [reviewOf(snake), reviewOf(camel)]
    if (python === undefined || js === undefined) throw new Error('both are reviews')
    expect(answerOf(python, [{ type: 'edit', args: { to: 'bob' } }])).toEqual({
      decisions: [{ type: 'edit', edited_action: { name: 'mail', args: { to: 'bob' } } }],
    })
    expect(
      answerOf(js, [
        { type: 'edit', args: { to: 'bob' } },
        { type: 'reject', message: 'no' },
      ]),
    ).toEqual({
      decisions: [
        { type: 'edit', editedAction: { name: 'mail', args: { to: 'bob' } } },
        { type: 'reject', message: 'no' },
      ],
    })
    expect(answerOf(python, [{ type: 'approve' }])).toEqual({ decisions: [{ type: 'approve' }] })
  })

  test('is shown as what was decided', () => {
    expect(decidedWords({ decisions: [{ type: 'approve' }, { type: 'reject' }] })).toBe('approved / rejected')
    expect(decidedWords({ confirmed: true })).toBeUndefined()
  })
})
