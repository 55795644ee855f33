import { describe, expect, test } from 'vitest'
import { answerOpenCalls } from './call-repair.ts'

const text = (of: string, role = 'user') => ({ role, parts: [{ text: of }] })
const calls = (...names: string[]) => ({
  role: 'model',
  parts: names.map((name) => ({ functionCall: { name, args: {} } })),
})
const answers = (...names: string[]) => ({
  role: 'user',
  parts: names.map((name) => ({ functionResponse: { name, response: { ok: true } } })),
})
const none = (name: string) => ({ functionResponse: { name, response: { error: 'There was no answer.' } } })

describe('calls without an answer', () => {
  test('a complete history is not changed', () => {
    const contents = [text('go'), calls('a', 'b'), answers('a', 'b'), text('done', 'model')]
    const before = structuredClone(contents)
    answerOpenCalls(contents)
    expect(contents).toEqual(before)
  })
  test('missing answers are added to the existing ones', () => {
    const contents = [text('go'), calls('a', 'b', 'a'), answers('a'), text('next')]
    answerOpenCalls(contents)
    expect(contents[2]?.parts).toEqual([...answers('a').parts, none('b'), none('a')])
    expect(contents).toHaveLength(4)
  })
  test('missing answers are put after the calls when there are no others', () => {
    const contents = [text('go'), calls('a'), text('never mind'), calls('b')]
    answerOpenCalls(contents)
    expect(contents).toEqual([
      text('go'),
      calls('a'),
      { role: 'user', parts: [none('a')] },
      text('never mind'),
      calls('b'),
      { role: 'user', parts: [none('b')] },
    ])
  })
})
