import { FunctionTool, LlmAgent } from '@google/adk'
import { describe, expect, test } from 'vitest'
import { call, model, type OfflineScript, say, specialists, think, z } from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import { isNested } from '../../../packages/server/src/agent/nested-event.ts'
import { outline, said, testSession } from '../run-agent.ts'
import { durationsOf, sideBySide } from '../side-by-side.ts'

const models = { tokensPerSecond: 0 }

describe('an ADK run', () => {
  test('says what the model says, as deltas and their aggregate, inside its node', async () => {
    const root = new LlmAgent({
      name: 'assistant',
      model: model({ offline: ({ user }) => [think('Greet.'), say(`Hello ${user}!`)] }),
    })
    const events = await testSession(adkAgent('assistant', async () => root, { models })).run('Ada')
    expect(outline(events)).toEqual([
      '> assistant@1',
      'assistant … thought “Greet.”',
      'assistant … “Hello ”',
      'assistant … “Ada!”',
      'assistant thought “Greet.” “Hello Ada!”',
      '< assistant@1',
      'done',
    ])
    expect(new Set(said(events).map(({ message }) => message)).size).toBe(1)
    expect(new Set(said(events).map(({ node }) => node))).toEqual(new Set(['assistant@1']))
  })
})

describe('specialists', () => {
  test('that run side by side have durations of their own, also where their rows are written together', async () => {
    const work = sideBySide()
    const script: OfflineScript = {
      boss: ({ step }) => (step === 0 ? ['quick', 'slow'].map((name) => call(name, { request: 'go' })) : say('Both.')),
      quick: () => work.quick().then(say),
      slow: () => work.slow().then(say),
    }
    const llm = model({ offline: script })
    const tools = specialists(['quick', 'slow'].map((name) => new LlmAgent({ name, model: llm })))
    const root = new LlmAgent({ name: 'boss', model: llm, tools })
    const session = testSession(adkAgent('boss', async () => root, { models }))
    await session.run('go', work)
    expect(durationsOf(session.rows)).toEqual({ boss: 650, quick: 100, slow: 650 })
  })

  let working = 0
  let most = 0
  const slow = (name: string) =>
    new FunctionTool({
      name: `measure_${name}`,
      description: 'takes a while',
      parameters: z.object({}),
      execute: async () => {
        working += 1
        most = Math.max(most, working)
        await new Promise((resolve) => setTimeout(resolve, 20))
        working -= 1
        const proof_layer = { confidence: 0.9, citations: [{ source: 'MTBS' }], reasoning_chain: ['measured'] }
        return { acres: 12, proof_layer }
      },
    })
  const names = ['burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor']
  const script: OfflineScript = {
    coordinator: ({ step }) => {
      if (step === 0) return names.map((name) => call(name, { request: 'fire_id:cedar-creek-2022' }))
      if (step === 1) return [call('burn_analyst', { request: 'more' }), call('nepa_advisor', { request: 'more' })]
      return say('Briefing.')
    },
    ...Object.fromEntries(
      names.map((name) => [
        name,
        ({ step, user }: { step: number; user: string }) =>
          step === 0 ? call(`measure_${name}`) : say(`${name} on ${user}`),
      ]),
    ),
  }
  const llm = model({ offline: script })
  const coordinator = new LlmAgent({
    name: 'coordinator',
    model: llm,
    tools: specialists(names.map((name) => new LlmAgent({ name, model: llm, tools: [slow(name)] }))),
  })
  const agent = adkAgent('recovery', async () => coordinator, { models })

  test('four calls, four answers, two calls, two answers, text, under one invocation', async () => {
    const events = await testSession(agent).run({
      messages: [{ id: 'm', role: 'user', content: { parts: [{ text: 'brief me' }] } }],
      props: { streaming: false },
    })
    // What a non-streaming answer leaves out, and the log has.
    expect(said(events).some(({ event }) => event.partial === true)).toBe(true)
    const outer = said(events).filter(({ event }) => event.partial !== true && !isNested(event))
    expect(outline(outer)).toEqual([
      `coordinator ${names.map((name) => `call ${name}`).join(' ')}`,
      `coordinator ${names.map((name) => `answer ${name}`).join(' ')}`,
      'coordinator call burn_analyst call nepa_advisor',
      'coordinator answer burn_analyst answer nepa_advisor',
      'coordinator “Briefing.”',
    ])
    expect(new Set(outer.map(({ event }) => event.invocationId)).size).toBe(1)
    expect(outer[1]?.event.content?.parts?.[0]?.functionResponse?.response).toEqual({
      result: 'burn_analyst on fire_id:cedar-creek-2022',
      proof_layer: { confidence: 0.9, citations: [{ source: 'MTBS' }], reasoning_chain: ['measured'] },
    })
    expect(outline(events).at(-1)).toBe('done')
  })

  test('the four of one turn work at the same time', async () => {
    most = 0
    await testSession(agent).run('brief me')
    expect(most).toBe(4)
  })

  test('stream into the coordinator under their own author, branch and node', async () => {
    const events = await testSession(agent).run('brief me')
    const nested = said(events).filter(({ event }) => isNested(event))
    for (const name of names) {
      const own = nested.filter(({ event }) => event.author === name)
      expect(own.some(({ event }) => event.partial === true)).toBe(true)
      expect(own[0]?.node).toBe(`coordinator/${name}@1`)
    }
    const started = events.filter((event) => event.kind === 'node.started')
    const burn = started.filter(({ agent: name }) => name === 'burn_analyst')
    expect(burn.map(({ node, parent }) => ({ node, parent }))).toEqual([
      { node: 'coordinator/burn_analyst@1', parent: 'coordinator@1' },
      { node: 'coordinator/burn_analyst@2', parent: 'coordinator@1' },
    ])
    const calls = said(events).flatMap(
      ({ event }) => event.content?.parts?.flatMap(({ functionCall }) => functionCall ?? []) ?? [],
    )
    expect(burn.map(({ call: id }) => id)).toEqual(
      calls.filter(({ name }) => name === 'burn_analyst').map(({ id }) => id),
    )
  })
})
