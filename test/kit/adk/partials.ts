import {
  BaseLlm,
  BasePlugin,
  type Event,
  FunctionTool,
  type InvocationContext,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  LoopAgent,
  SequentialAgent,
} from '@google/adk'
import type { RunEvent } from '@millrace/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { z } from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import { PrintedPartial } from '../../../packages/server/src/agent/printed-partial.ts'
import { testSession } from '../run-agent.ts'

// Tokens go from the model to the log without passing through ADK, as long as nothing of the author's could see them there.

const says = (text: string, more: object = {}): LlmResponse => ({
  content: { role: 'model', parts: [{ text, ...more }] },
})
const token = (text: string, more: object = {}): LlmResponse => ({ ...says(text, more), partial: true })
const calls = (name: string): LlmResponse => ({
  content: { role: 'model', parts: [{ functionCall: { name, args: {} } }] },
})

class Tokens extends BaseLlm {
  said = 0
  #turn = 0
  readonly #turns: readonly (readonly LlmResponse[])[]
  constructor(...turns: readonly (readonly LlmResponse[])[]) {
    super({ model: 'tokens' })
    this.#turns = turns
  }
  override async *generateContentAsync(_request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    for (const answer of this.#turns[this.#turn++ % this.#turns.length] ?? []) {
      this.said += 1
      yield answer
    }
  }
  override async connect(): Promise<never> {
    throw new Error('no')
  }
}

const answer = [
  token('Two '),
  token('why?', { thought: true }),
  token('words.'),
  { ...says('Two words.'), turnComplete: true },
]
const agentOf = (root: unknown) => adkAgent('root', async () => root)
const run = (root: unknown) => testSession(agentOf(root)).run('go')
const texts = (events: readonly RunEvent[], partial = true): readonly string[] =>
  events.flatMap((event) =>
    event.kind === 'agent' && (event.event.partial === true) === partial
      ? (event.event.content?.parts ?? []).flatMap(({ text }) => text ?? [])
      : [],
  )

/** The events with names in the order of their first use for ids, and without times. */
function nameless(events: readonly RunEvent[]): readonly unknown[] {
  const names = new Map<string, string>()
  const name = (id: string): string => {
    const known = names.get(id) ?? `id${names.size}`
    names.set(id, known)
    return known
  }
  return events.map((event) =>
    JSON.parse(
      JSON.stringify(event)
        .replace(/"timestamp":[\d.]+/g, '"timestamp":0')
        .replace(/adk-[\da-f-]{36}/g, name)
        .replace(/(?<="(?:id|message)":")[\dA-Za-z]{8}(?=")/g, name),
    ),
  )
}

/** How many answers of models ADK turned into events. */
function processed() {
  return vi.spyOn(LlmAgent.prototype as unknown as { postprocess: () => unknown }, 'postprocess')
}
afterEach(() => vi.restoreAllMocks())

const nothing = z.object({})
const tool = new FunctionTool({
  name: 'look',
  description: 'looks',
  parameters: nothing,
  execute: () => ({ ok: true }),
})
type Hooks = Pick<ConstructorParameters<typeof LlmAgent>[0], 'afterModelCallback'>
const shapes: readonly [string, number, (hooks: Hooks) => unknown][] = [
  ['one agent', 1, (hooks) => new LlmAgent({ name: 'root', model: new Tokens(answer), ...hooks })],
  [
    'a turn with a tool',
    3,
    (hooks) =>
      new LlmAgent({
        name: 'root',
        tools: [tool],
        model: new Tokens(
          [token('I look.'), { ...calls('look'), partial: true }, says('I look.'), calls('look')],
          [{ ...token('It is '), usageMetadata: { totalTokenCount: 2 } }, token('there.'), says('It is there.')],
        ),
        ...hooks,
      }),
  ],
  [
    'pipelines',
    4,
    (hooks) => {
      const one = (name: string) => new LlmAgent({ name, model: new Tokens(answer), ...hooks })
      const loop = new LoopAgent({ name: 'loop', subAgents: [one('b')], maxIterations: 2 })
      return new SequentialAgent({ name: 'root', subAgents: [one('a'), loop, one('c')] })
    },
  ],
]

describe.each(shapes)('tokens of %s', (_, whole, make) => {
  test('are the same events, in the same order, as those that ADK makes', async () => {
    const [direct, byAdk] = [await run(make({})), await run(make({ afterModelCallback: () => undefined }))]
    expect(texts(direct).length).toBeGreaterThanOrEqual(3)
    expect(nameless(direct)).toEqual(nameless(byAdk))
  })
  test('have the text that the log stores', async () => {
    const printed = (await run(make({}))).filter((event) => event instanceof PrintedPartial)
    expect(printed.length).toBeGreaterThanOrEqual(2)
    for (const event of printed) expect(event.text).toBe(JSON.stringify(event))
  })
  test('do not pass through ADK', async () => {
    const spy = processed()
    const events = await run(make({}))
    expect(spy.mock.calls.length).toBeLessThan(texts(events).length + whole)
    expect(spy.mock.calls.length).toBeGreaterThanOrEqual(whole)
  })
})

test('tokens are what a model said, also when it says the next one with the same object', async () => {
  class Reusing extends Tokens {
    override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
      const part = { text: '' }
      const same: LlmResponse = { content: { role: 'model', parts: [part] }, partial: true }
      for (const text of ['one ', 'two ', 'three']) {
        part.text = text
        yield same
      }
      yield says('one two three')
    }
  }
  const events = await run(new LlmAgent({ name: 'root', model: new Reusing() }))
  expect(texts(events)).toEqual(['one ', 'two ', 'three'])
})

describe('code of the author still has every token:', () => {
  test('a callback of the model', async () => {
    const seen: unknown[] = []
    const afterModelCallback = ({ response }: { response: LlmResponse }): LlmResponse => {
      seen.push(response.partial)
      return { ...response, content: { role: 'model', parts: [{ text: 'changed' }] } }
    }
    const events = await run(new LlmAgent({ name: 'root', model: new Tokens(answer), afterModelCallback }))
    expect(seen).toEqual([true, true, true, undefined])
    expect(new Set(texts(events))).toEqual(new Set(['changed']))
  })
  test('a plugin of the app', async () => {
    const seen: string[] = []
    class Listens extends BasePlugin {
      override async onEventCallback({ event }: { event: Event }): Promise<undefined> {
        seen.push(...(event.partial === true ? (event.content?.parts ?? []).flatMap(({ text }) => text ?? []) : []))
      }
    }
    const rootAgent = new LlmAgent({ name: 'root', model: new Tokens(answer) })
    const events = await run({ rootAgent, plugins: [new Listens('listens')] })
    expect(seen).toEqual(texts(events))
  })
  test('an agent with a class of its own', async () => {
    class Quiet extends LlmAgent {
      protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
        for await (const event of super.runAsyncImpl(context)) if (event.partial !== true) yield event
      }
    }
    const events = await run(new Quiet({ name: 'root', model: new Tokens(answer) }))
    expect(texts(events)).toEqual([])
    expect(texts(events, false)).toEqual(['Two words.'])
  })
  test('an agent around it with a class of its own', async () => {
    class Quiet extends SequentialAgent {
      protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
        for await (const event of super.runAsyncImpl(context)) if (event.partial !== true) yield event
      }
    }
    const inner = new LlmAgent({ name: 'inner', model: new Tokens(answer) })
    expect(texts(await run(new Quiet({ name: 'root', subAgents: [inner] })))).toEqual([])
  })
  test('a tool that runs an agent and keeps its events', async () => {
    const inner = new LlmAgent({ name: 'inner', model: new Tokens(answer) })
    const kept: (boolean | undefined)[] = []
    const asks = new FunctionTool({
      name: 'asks',
      description: 'asks',
      parameters: nothing,
      execute: async (_, context) => {
        const around = context?.invocationContext
        if (around !== undefined) for await (const { partial } of inner.runAsync(around)) kept.push(partial)
        return { ok: true }
      },
    })
    const model = new Tokens([calls('asks')], [token('Done.'), says('Done.')])
    const events = await run(new LlmAgent({ name: 'root', model, tools: [asks], subAgents: [inner] }))
    expect(texts(events)).toEqual(['Done.'])
    expect(kept).toEqual([true, true, true, undefined])
  })
})

test('a model whose tokens have no end is said to have broken off', async () => {
  const events = await run(new LlmAgent({ name: 'root', model: new Tokens([token('Half a')]) }))
  expect(texts(events)).toEqual(['Half a'])
  expect(events.at(-1)).toMatchObject({ outcome: 'failed', error: { code: 'model-error', source: 'TRUNCATED' } })
})

test('a model waits while the log is behind, and stops with the run', async () => {
  const model = new Tokens([...Array.from({ length: 2000 }, (_, i) => token(`${i} `)), says('all')])
  const stop = new AbortController()
  const agent = agentOf(new LlmAgent({ name: 'root', model }))
  const most: number[] = []
  const events = await testSession(agent).run('go', {
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind !== 'agent') return
      most.push(model.said)
      if (most.length === 400) stop.abort(new Error('enough'))
    },
  })
  expect(texts(events).slice(0, 3)).toEqual(['0 ', '1 ', '2 '])
  expect(Math.max(...most)).toBeLessThan(400 + 300)
  expect(model.said).toBeLessThan(1000)
})
