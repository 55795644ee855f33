import {
  BaseAgent,
  BaseLlm,
  BaseTool,
  createEvent,
  FunctionTool,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'
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
} from '../../../packages/server/src/adk.ts'
import { type AdkAgentOptions, adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import { outline, said, testSession } from '../run-agent.ts'

const run = (root: unknown, options: AdkAgentOptions = {}) =>
  testSession(adkAgent('root', async () => root, { models: { tokensPerSecond: 0 }, ...options })).run('go')
const ending = async (root: unknown, options: AdkAgentOptions = {}) => outline(await run(root, options)).at(-1)
const scripted = (script: OfflineAgentScript, tools: FunctionTool[] = []) =>
  new LlmAgent({ name: 'root', model: model({ offline: script }), tools })

/** A model from another author: its turns in order, then the last one again and again. It yields the same objects each time, as stubs do. */
class TurnsLlm extends BaseLlm {
  calls = 0
  readonly #turns: readonly (readonly LlmResponse[])[]
  constructor(...turns: readonly (readonly LlmResponse[])[]) {
    super({ model: 'turns' })
    this.#turns = turns
  }
  override async *generateContentAsync(_request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    yield* this.#turns[Math.min(this.calls++, this.#turns.length - 1)] ?? []
  }
  override async connect(): Promise<never> {
    throw new Error('no')
  }
}
const says = (...parts: object[]): LlmResponse => ({ content: { role: 'model', parts } })
const nest = (levels: number): object => (levels === 0 ? {} : { in: nest(levels - 1) })

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
    [
      'returns what is nested too deeply to be stored',
      () => nest(3_000),
      { error: "Tool 'bad' returned a value that is nested deeper than 400 levels. Return a flatter value." },
    ],
  ])('%s gives an answer that the model can act on', async (_, execute, response) => {
    const bad = new FunctionTool({ name: 'bad', description: 'bad', execute: async () => execute() })
    const events = await run(scripted(({ step }) => (step === 0 ? call('bad') : say('done')), [bad]))
    expect(said(events)[1]?.event.content?.parts?.[0]?.functionResponse?.response).toEqual(response)
    expect(outline(events).at(-1)).toBe('done')
  })

  test.each<[string, unknown, string]>([
    ['an object', { code: 5, message: 'quota exceeded' }, 'quota exceeded'],
    ['the body of an answer', { error: { code: 429, message: 'slow down' } }, 'slow down'],
    ['an object without words', { code: 5 }, '{"code":5}'],
    ['an object without a prototype', Object.create(null), 'the thrown value has no message'],
    ['an error whose message is no text', Object.assign(new Error(), { message: 5 }), 'Error'],
  ])('throws %s is reported in words', async (_, thrown, error) => {
    class Bad extends BaseTool {
      override _getDeclaration() {
        return { name: this.name }
      }
      override async runAsync(): Promise<unknown> {
        throw thrown
      }
    }
    const tool = new Bad({ name: 'bad', description: 'bad' })
    const root = new LlmAgent({
      name: 'root',
      model: new TurnsLlm([says({ functionCall: { name: 'bad' } })], [says({ text: 'ok' })]),
      tools: [tool],
    })
    const events = await run(root)
    expect(said(events)[1]?.event.content?.parts?.[0]?.functionResponse?.response).toEqual({ error })
  })

  test.each<[string, () => unknown, RegExp]>([
    ['a cycle', () => cyclic, /^Tool 'bad' returned a value that is not JSON/],
    ['5 MB', () => 'x'.repeat(5_000_000), /the limit is 1\.0 MB/],
  ])('returns %s after a person approved it gives an answer too', async (_, execute, error) => {
    const bad = new FunctionTool({ name: 'bad', description: 'bad', requireConfirmation: true, execute })
    const root = scripted(({ results }) => (results.length === 0 ? call('bad') : say('done')), [bad])
    const session = testSession(adkAgent('root', async () => root, { models: { tokensPerSecond: 0 } }))
    const asked = (await session.run('go')).find((event) => event.kind === 'interrupt')
    const resume = [{ interrupt: asked?.id ?? '', status: 'resolved' as const, payload: { confirmed: true } }]
    const events = await session.run({ resume })
    expect(said(events)[0]?.event.content?.parts?.[0]?.functionResponse?.response?.error).toMatch(error)
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
  test.each<[string, readonly LlmResponse[], string]>([
    ['says an empty text', [says({ text: '' })], 'gave an empty answer.'],
    ['says white space', [says({ text: ' \n' })], 'gave an empty answer.'],
    [
      'says half of it and no whole',
      [{ ...says({ text: 'half' }), partial: true }],
      'broke off before its answer was complete.',
    ],
  ])('%s fails the run', async (_, turn, reason) => {
    expect(await ending(new LlmAgent({ name: 'root', model: new TurnsLlm(turn) }))).toBe(
      `failed (model-error: The model of 'root' ${reason})`,
    )
  })
  test.each(['constructor', '__proto__', 'toString'])(
    'calls %s, which every object has, is reported like any other',
    async (name) => {
      const llm = new TurnsLlm([says({ functionCall: { name, args: {} } })])
      expect(await ending(new LlmAgent({ name: 'root', model: llm }))).toMatch(
        `The model of 'root' called the unknown tool '${name}' again.`,
      )
      expect(llm.calls).toBe(2)
    },
  )
  test('gives every call the same id has each of them run, under an id of its own', async () => {
    const given: unknown[] = []
    const parameters = z.object({ of: z.number() })
    const tool = new FunctionTool({
      name: 'tool',
      description: 'works',
      parameters,
      execute: ({ of }) => given.push(of),
    })
    const asks = (...of: number[]) =>
      says(...of.map((one) => ({ functionCall: { id: 'call_0', name: 'tool', args: { of: one } } })))
    const root = new LlmAgent({
      name: 'root',
      model: new TurnsLlm([asks(1, 2)], [asks(3)], [says({ text: 'done' })]),
      tools: [tool],
    })
    const session = testSession(adkAgent('root', async () => root))
    await session.run('go')
    expect(given).toEqual([1, 2, 3])
    const parts = session.rows.flatMap(({ event }) =>
      event.kind === 'agent' ? (event.event.content?.parts ?? []) : [],
    )
    const calls = parts.flatMap(({ functionCall }) => functionCall?.id ?? [])
    expect(calls[0]).toBe('call_0')
    expect(new Set(calls).size).toBe(3)
    expect(parts.flatMap(({ functionResponse }) => functionResponse?.id ?? [])).toEqual(calls)
  })
  test('only thinks has said something', async () => {
    expect(await ending(scripted(() => think('hm')))).toBe('done')
  })
  test('calls a tool without end is stopped at the limit', async () => {
    let calls = 0
    const tool = new FunctionTool({ name: 'tool', description: 'works', execute: () => ++calls })
    const endless = scripted(() => call('tool'), [tool])
    expect(await ending(endless, { maxLlmCalls: 3 })).toMatch(
      /^failed \(limit: 'root' called its model 3 times without an end/,
    )
    expect(calls).toBe(3)
    // ADK's own limit, for a run and for all its agents together.
    expect(await ending(endless)).toMatch(/called its model 500 times/)
  })
  test('loops in a specialist is the specialist’s failure, and the run has a limit of its own', async () => {
    const tool = new FunctionTool({ name: 'tool', description: 'works', execute: () => 1 })
    const child = new LlmAgent({ name: 'child', model: model({ offline: () => call('tool') }), tools: [tool] })
    const root = new LlmAgent({
      name: 'root',
      model: model({ offline: ({ step }) => (step < 10 ? call('child', { request: '' }) : say('done')) }),
      tools: specialists([child]),
    })
    const events = await run(root, { maxLlmCalls: 20, maxLlmCallsPerRun: 50 })
    const first = said(events).find(({ event }) => event.content?.parts?.[0]?.functionResponse?.name === 'child')
    expect(first?.event.content?.parts?.[0]?.functionResponse?.response?.error).toMatch(/called its model 20 times/)
    expect(outline(events).at(-1)).toBe('failed (limit: The run made 50 model calls. The limit is maxLlmCallsPerRun.)')
  })
  test('has no key says which one to set', async () => {
    expect(await ending(new LlmAgent({ name: 'root', model: 'gemini-2.5-flash' }))).toBe(
      'failed (model-error: gemini-2.5-flash needs GOOGLE_API_KEY. Set it, or set MILLRACE_MODEL to another model (MILLRACE_MODEL=offline needs no key).)',
    )
    expect(await ending(new LlmAgent({ name: 'root', model: model('claude') }))).toMatch(
      /claude: no provider of that name; write anthropic:claude/,
    )
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
      "The agent 'root' could not be loaded: DATABASE_URL is not set",
    )
  })
})
