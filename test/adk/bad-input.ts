import { BaseAgent, createEvent, FunctionTool, LlmAgent } from '@google/adk'
import { describe, expect, test } from 'vitest'
import {
  call,
  fail,
  model,
  type OfflineAgentScript,
  say,
  specialists,
  think,
  z,
} from '../../packages/server/src/adk.ts'
import { type AdkAgentOptions, adkAgent } from '../../packages/server/src/agent/adk/adk-agent.ts'
import { outline, said, testSession } from '../run-agent.ts'

const run = (root: unknown, options: AdkAgentOptions = {}) =>
  testSession(adkAgent('root', async () => root, { models: { tokensPerSecond: 0 }, ...options })).run('go')
const ending = async (root: unknown, options: AdkAgentOptions = {}) => outline(await run(root, options)).at(-1)
const scripted = (script: OfflineAgentScript, tools: FunctionTool[] = []) =>
  new LlmAgent({ name: 'root', model: model({ offline: script }), tools })

const cyclic: Record<string, unknown> = { name: 'loop' }
cyclic.self = cyclic

describe('a tool that', () => {
  test.each<[string, () => unknown, unknown]>([
    [
      'throws',
      () => {
        throw new Error('no network')
      },
      { error: "Error in tool 'bad': no network" },
    ],
    [
      'throws what is not an error',
      () => {
        throw 'nope'
      },
      { error: "Error in tool 'bad': nope" },
    ],
    ['returns undefined', () => undefined, { result: null }],
    ['returns null', () => null, { result: null }],
    ['returns a number', () => 7, { result: 7 }],
    ['returns a list', () => [1, 2], { results: [1, 2] }],
    ['returns a date', () => ({ at: new Date(0) }), { at: '1970-01-01T00:00:00.000Z' }],
    ['returns a function', () => () => 1, { result: null }],
    [
      'returns a big integer',
      () => 7n,
      { error: expect.stringMatching(/^Tool 'bad' returned a value that is not JSON: .*BigInt/) },
    ],
    [
      'returns a cycle',
      () => cyclic,
      { error: expect.stringMatching(/^Tool 'bad' returned a value that is not JSON: .*circular/) },
    ],
    [
      'returns 5 MB',
      () => 'x'.repeat(5_000_000),
      {
        error: "Tool 'bad' returned 5.0 MB of JSON; the limit is 1.0 MB. Return a summary, or save it as an artifact.",
      },
    ],
    [
      'has toJSON that throws',
      () => ({
        toJSON() {
          throw new Error('shy')
        },
      }),
      { error: "Tool 'bad' returned a value that is not JSON: shy" },
    ],
  ])('%s gives an answer that the model can act on', async (_, execute, response) => {
    const bad = new FunctionTool({ name: 'bad', description: 'bad', execute: async () => execute() })
    const events = await run(scripted(({ step }) => (step === 0 ? call('bad') : say('done')), [bad]))
    expect(said(events)[1]?.event.content?.parts?.[0]?.functionResponse?.response).toEqual(response)
    expect(outline(events).at(-1)).toBe('done')
  })

  test('is called with the wrong arguments says which', async () => {
    const strict = new FunctionTool({
      name: 'strict',
      description: 'strict',
      parameters: z.object({ city: z.string(), days: z.number() }),
      execute: () => 'never',
    })
    const events = await run(scripted(({ step }) => (step === 0 ? call('strict', { city: 7 }) : say('done')), [strict]))
    expect(said(events)[1]?.event.content?.parts?.[0]?.functionResponse?.response?.error).toMatch(
      /^Invalid arguments for 'strict': city: .*string.*; days: /,
    )
  })

  test('changes its result afterwards does not change the log', async () => {
    const shared = { count: 1 }
    const tool = new FunctionTool({ name: 'tool', description: 'shares', execute: () => shared })
    const events = await run(
      scripted(
        ({ step }) => {
          shared.count += 10
          return step === 0 ? call('tool') : say('done')
        },
        [tool],
      ),
    )
    expect(said(events)[1]?.event.content?.parts?.[0]?.functionResponse?.response).toEqual({ count: 11 })
  })

  test('puts what is not JSON into the state fails the run by name', async () => {
    const tool = new FunctionTool({
      name: 'tool',
      description: 'writes',
      execute: (_args, context) => void context?.state.set('cycle', cyclic),
    })
    expect(await ending(scripted(({ step }) => (step === 0 ? call('tool') : say('done')), [tool]))).toMatch(
      /^failed \(agent-error: 'root' yielded an event that is not JSON \(state keys: cycle\): .*circular/,
    )
  })
})

describe('a model that', () => {
  test('fails ends the run with its own words', async () => {
    const events = await run(scripted(() => [say('Well, '), fail('429', 'quota exceeded')]))
    expect(outline(events)).toEqual([
      '> root@1',
      'root … “Well, ”',
      'root !429',
      '< root@1 error',
      'failed (model-error: quota exceeded)',
    ])
    expect(events.at(-1)).toMatchObject({ error: { source: '429' } })
  })
  test.each<[string, OfflineAgentScript]>([
    ['says nothing', () => []],
    ['says nothing after a tool', ({ step }) => (step === 0 ? call('tool') : [])],
  ])('%s fails the run', async (_, script) => {
    const tool = new FunctionTool({ name: 'tool', description: 'works', execute: () => 1 })
    expect(await ending(scripted(script, [tool]))).toBe(
      "failed (model-error: The model of 'root' gave an empty answer.)",
    )
  })
  test('only thinks has said something', async () => {
    expect(await ending(scripted(() => think('hm')))).toBe('done')
  })
  test('calls a tool without end is stopped at the limit', async () => {
    let calls = 0
    const tool = new FunctionTool({ name: 'tool', description: 'works', execute: () => ++calls })
    expect(await ending(scripted(() => call('tool'), [tool]))).toMatch(
      /^failed \(limit: 'root' called its model 20 times without an end/,
    )
    expect(calls).toBe(20)
    expect(
      await ending(
        scripted(() => call('tool'), [tool]),
        { maxLlmCalls: 3 },
      ),
    ).toMatch(/called its model 3 times/)
  })
  test('loops in a specialist is the specialist’s failure, and the run has a limit of its own', async () => {
    const tool = new FunctionTool({ name: 'tool', description: 'works', execute: () => 1 })
    const child = new LlmAgent({ name: 'child', model: model({ offline: () => call('tool') }), tools: [tool] })
    const root = new LlmAgent({
      name: 'root',
      model: model({ offline: ({ step }) => (step < 10 ? call('child', { request: '' }) : say('done')) }),
      tools: specialists([child]),
    })
    const events = await run(root, { maxLlmCallsPerRun: 50 })
    const first = said(events).find(({ event }) => event.content?.parts?.[0]?.functionResponse?.name === 'child')
    expect(first?.event.content?.parts?.[0]?.functionResponse?.response?.error).toMatch(/called its model 20 times/)
    expect(outline(events).at(-1)).toBe('failed (limit: The run made 50 model calls. The limit is maxLlmCallsPerRun.)')
  })
  test('has no key says which one to set', async () => {
    expect(await ending(new LlmAgent({ name: 'root', model: 'gemini-2.5-flash' }))).toBe(
      'failed (model-error: gemini-2.5-flash needs GOOGLE_API_KEY. Set it, or set MILLRACE_MODEL=offline.)',
    )
    expect(await ending(new LlmAgent({ name: 'root', model: model('claude') }))).toMatch(/no such model: claude/)
  })
})

describe('an agent that', () => {
  test('throws fails the run with what it said', async () => {
    class Broken extends BaseAgent {
      protected override async *runAsyncImpl() {
        yield createEvent({ author: this.name, content: { role: 'model', parts: [{ text: 'so far' }] } })
        throw new Error('out of ink')
      }
      protected override async *runLiveImpl() {}
    }
    expect(outline(await run(new Broken({ name: 'root' })))).toEqual([
      '> root@1',
      'root “so far”',
      '< root@1 error',
      'failed (agent-error: out of ink)',
    ])
  })
  test('asks for a state key that is not there names it', async () => {
    const root = new LlmAgent({ name: 'root', instruction: 'Plan: {plan}', model: model({ offline: () => say('hi') }) })
    expect(await ending(root)).toMatch(/^failed \(agent-error: .*plan/)
  })
  test('does not load rejects with the reason', async () => {
    const agent = adkAgent('root', async () => {
      throw new Error('DATABASE_URL is not set')
    })
    expect(await agent.describe()).toMatchObject({ engine: 'broken', error: 'DATABASE_URL is not set' })
    await expect(testSession(agent).run('go')).rejects.toThrow(
      "The agent 'root' does not load: DATABASE_URL is not set",
    )
  })
})
