import { describe, expect, test } from 'vitest'
import type { StreamEvent } from './langgraph-agent.ts'
import { inSteps, stepMode } from './steps.ts'

const root: StreamEvent = { event: 'on_chain_start', name: 'g', run_id: 'g' }
const task = (event: string, name: string, step: number): StreamEvent => ({
  event,
  name,
  run_id: name,
  tags: [`graph:step:${step}`],
  metadata: { langgraph_checkpoint_ns: `${name}:1`, langgraph_step: step },
})
const start = (name: string, step: number) => task('on_chain_start', name, step)
const end = (name: string, step: number) => task('on_chain_end', name, step)
const token: StreamEvent = { event: 'on_chat_model_stream', name: 'm', run_id: 'm' }
const state = (step: number): StreamEvent => ({
  event: 'on_chain_stream',
  name: 'g',
  run_id: 'g',
  data: { chunk: [stepMode, { metadata: { step }, values: { step } }] },
})

async function ordered(...events: readonly (StreamEvent | Error)[]): Promise<readonly string[]> {
  const seen: string[] = []
  async function* stream(): AsyncGenerator<StreamEvent> {
    for (const event of events) {
      if (event instanceof Error) throw event
      yield event
    }
  }
  try {
    for await (const { event, name, values } of inSteps(stream())) {
      const what = event === 'on_chain_start' ? '>' : event === 'on_chain_end' ? '<' : '·'
      seen.push(`${what}${name}${values === undefined ? '' : ` ${JSON.stringify(values)}`}`)
    }
  } catch (error) {
    seen.push(String(error))
  }
  return seen
}

describe('the end of a step', () => {
  test('carries the state that LangGraph streams a moment later; events that came meanwhile follow', async () => {
    expect(
      await ordered(root, start('a', 1), end('a', 1), start('b', 2), token, state(1), end('b', 2), state(2)),
    ).toEqual(['>g', '>a', '<a {"step":1}', '>b', '·m', '<b {"step":2}'])
  })

  test('is the end of its last task; the other tasks are not held', async () => {
    expect(
      await ordered(root, start('a', 1), start('b', 1), end('b', 1), token, end('a', 1), state(1), start('c', 2)),
    ).toEqual(['>g', '>a', '>b', '<b', '·m', '<a {"step":1}', '>c'])
  })

  test('is corrected when another task of the same step starts after it', async () => {
    expect(await ordered(root, start('a', 1), end('a', 1), start('b', 1), token, end('b', 1), state(1))).toEqual([
      '>g',
      '>a',
      '<a',
      '>b',
      '·m',
      '<b {"step":1}',
    ])
  })

  test('is not held when the next step ends before the state arrives', async () => {
    expect(await ordered(root, start('a', 1), end('a', 1), start('b', 2), end('b', 2))).toEqual([
      '>g',
      '>a',
      '<a',
      '>b',
      '<b',
    ])
  })

  test('is released when the stream breaks', async () => {
    expect(await ordered(root, start('a', 1), end('a', 1), start('b', 2), new Error('broken'))).toEqual([
      '>g',
      '>a',
      '<a',
      '>b',
      'Error: broken',
    ])
  })

  test('without a task is an event of its own', async () => {
    expect(await ordered(root, state(3), start('a', 4))).toEqual(['>g', '·g {"step":3}', '>a'])
  })
})
