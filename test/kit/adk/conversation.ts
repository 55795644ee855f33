import { FunctionTool, LlmAgent } from '@google/adk'
import type { RunInput } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { call, model, type OfflineScript, say, specialists, z } from '../../../packages/server/src/adk.ts'
import { type AdkAgentOptions, adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import { outline, said, testSession } from '../run-agent.ts'

const agentOf = (root: unknown, options: AdkAgentOptions = {}) =>
  adkAgent('root', async () => root, { models: { tokensPerSecond: 0 }, ...options })
const llm = (offline: OfflineScript) => model({ offline })
const answer = (events: Parameters<typeof said>[0]): string =>
  said(events).at(-1)?.event.content?.parts?.at(-1)?.text ?? ''
const message = (text: string, role: 'user' | 'system' | 'assistant' | 'tool' = 'user') => ({
  id: text,
  role,
  content: { parts: [{ text }] },
})

describe('a conversation', () => {
  const remember = new FunctionTool({
    name: 'remember',
    description: 'remembers',
    parameters: z.object({ what: z.string() }),
    execute: ({ what }, context) => {
      context?.state.set('memory', what)
      context?.state.set('temp:scratch', 'gone after the run')
      return 'ok'
    },
  })
  const root = () =>
    new LlmAgent({
      name: 'root',
      instruction: 'You know: {memory?}',
      model: llm(({ user, step, history, state, instruction }) => {
        if (user.startsWith('remember') && step === 0) return call('remember', { what: user.slice(9) })
        return say(
          `${history.length} said; ${state.memory ?? 'nothing'}; ${instruction.includes('chess') ? 'knows' : ''}`,
        )
      }),
      tools: [remember],
    })

  test('a second run sees the history and the state of the first; another session does not', async () => {
    const agent = agentOf(root())
    const one = testSession(agent, 'one')
    await one.run('remember chess')
    expect(answer(await one.run('and?'))).toBe('3 said; chess; knows')
    expect(one.state).toEqual({ memory: 'chess' })
    expect(answer(await testSession(agent, 'two').run('and?'))).toBe('1 said; nothing; ')
  })

  test('events of one millisecond keep the order of the log', async () => {
    const asked: string[] = []
    const agent = agentOf(
      new LlmAgent({
        name: 'root',
        model: llm(({ history }) => {
          asked.splice(0, asked.length, ...history.map(({ text }) => text))
          return say(`answer ${history.length}`)
        }),
      }),
    )
    const session = testSession(agent)
    for (const text of ['a', 'b', 'c']) await session.run(text)
    expect(asked).toEqual(['a', 'answer 1', 'b', 'answer 3', 'c'])
  })

  test('client state reaches the agent, and what the run changes of it comes back', async () => {
    const session = testSession(agentOf(root()))
    const events = await session.run({ messages: [message('and?')], state: { memory: 'a list', 'app:theme': 'dark' } })
    expect(answer(events)).toBe('1 said; a list; ')
    expect(session.state).toEqual({ memory: 'a list', 'app:theme': 'dark' })
  })

  test('system messages and client context become instructions, and stay for later runs', async () => {
    const instructions: string[] = []
    const agent = agentOf(
      new LlmAgent({
        name: 'root',
        instruction: 'Be brief.',
        model: llm(({ instruction }) => {
          instructions.push(instruction.replaceAll(/\s+/g, ' '))
          return say('ok')
        }),
      }),
    )
    const session = testSession(agent)
    const context: RunInput['context'] = [{ description: 'Open page', value: 'Settings' }]
    await session.run({ messages: [message('Speak French.', 'system'), message('hello')], context })
    await session.run('again')
    expect(instructions[0]).toMatch(/Be brief\..*Speak French\. Open page: Settings$/)
    expect(instructions[1]).toMatch(/Be brief\..*Speak French\.$/)
  })

  test('several messages of one run are all in the history', async () => {
    let texts: readonly string[] = []
    const agent = agentOf(
      new LlmAgent({
        name: 'root',
        model: llm(({ history }) => {
          texts = history.map(({ role, text }) => `${role}: ${text}`)
          return say('ok')
        }),
      }),
    )
    await testSession(agent).run({ messages: [message('first'), message('well', 'assistant'), message('second')] })
    expect(texts).toEqual(['user: first', 'model: well', 'user: second'])
  })

  test('without a message there is nothing to answer, and that is said', async () => {
    const events = await testSession(agentOf(root())).run({ messages: [] })
    expect(outline(events)).toEqual([expect.stringMatching(/^failed \(invalid: no message to answer/)])
  })

  test('a delta carries no state: the turn it belongs to is not over', async () => {
    const root = new LlmAgent({ name: 'root', model: llm(() => say('a b c')), outputKey: 'answer' })
    const events = said(await testSession(agentOf(root)).run('go'))
    expect(events.map(({ event }) => event.actions?.stateDelta)).toEqual([{}, {}, {}, { answer: 'a b c' }])
  })

  test('usage is added up over all model calls', async () => {
    const events = await testSession(agentOf(root())).run('remember chess')
    expect(events.at(-1)).toMatchObject({ outcome: 'done', usage: { modelCalls: 2, totalTokens: expect.any(Number) } })
  })
})

describe('transfer', () => {
  test('hands over, and the next message goes straight to that agent', async () => {
    const script: OfflineScript = {
      root: () => call('transfer_to_agent', { agentName: 'billing' }),
      billing: ({ user }) => say(`billing on ${user}`),
    }
    const billing = new LlmAgent({ name: 'billing', model: llm(script) })
    const session = testSession(agentOf(new LlmAgent({ name: 'root', model: llm(script), subAgents: [billing] })))
    expect(outline(await session.run('refund')).filter((line) => !line.includes('…'))).toEqual([
      '> root@1',
      'root call transfer_to_agent',
      'root answer transfer_to_agent',
      '> root/billing@1',
      'billing “billing on refund”',
      '< root/billing@1',
      '< root@1',
      'done',
    ])
    const second = await session.run('when')
    expect(outline(second)[0]).toBe('> billing@1')
    expect(answer(second)).toBe('billing on when')
  })

  test('what a specialist said is neither the conversation nor a place to go on', async () => {
    let seen: readonly string[] = []
    const script: OfflineScript = {
      root: ({ step, user, history }) => {
        seen = history.map(({ text }) => text)
        return user === 'ask' && step === 0 ? call('child', { request: 'a secret' }) : say('root speaks')
      },
      child: () => say('child speaks'),
    }
    const tools = specialists([new LlmAgent({ name: 'child', model: llm(script) })])
    const session = testSession(agentOf(new LlmAgent({ name: 'root', model: llm(script), tools })))
    await session.run('ask')
    expect(answer(await session.run('again'))).toBe('root speaks')
    expect(seen).toEqual(['ask', 'root speaks', 'again'])
  })
})

describe('artifacts', () => {
  const save = new FunctionTool({
    name: 'save',
    description: 'saves',
    parameters: z.object({ text: z.string() }),
    execute: async ({ text }, context) => ({ version: await context?.saveArtifact('notes.md', { text }) }),
  })
  const load = new FunctionTool({
    name: 'load',
    description: 'loads',
    execute: async (_args, context) => ({
      names: await context?.listArtifacts(),
      latest: (await context?.loadArtifact('notes.md'))?.text,
      first: (await context?.loadArtifact('notes.md', 0))?.text,
    }),
  })
  test('are events with their content, versioned, and loaded by later runs', async () => {
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ user, step, result }) => {
        if (step > 0) return say(JSON.stringify(result('load') ?? result('save')))
        return user === 'load' ? call('load') : call('save', { text: user })
      }),
      tools: [save, load],
    })
    const session = testSession(agentOf(root))
    const first = await session.run('one')
    expect(first).toContainEqual({
      kind: 'artifact',
      id: 'notes.md',
      name: 'notes.md',
      type: 'document',
      version: 0,
      part: { text: 'one' },
      node: 'root@1',
    })
    expect(outline(await session.run('two'))).toContain('artifact notes.md v1')
    expect(answer(await session.run('load'))).toBe('{"names":["notes.md"],"latest":"two","first":"one"}')
  })

  test('too large for the log are an error of the tool', async () => {
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ step, result }) =>
        step === 0 ? call('save', { text: 'x'.repeat(4_000_000) }) : say(`${result('save')?.error}`),
      ),
      tools: [save],
    })
    expect(answer(await testSession(agentOf(root)).run('go'))).toMatch(
      /the artifact notes\.md is 4\.0 MB; the limit is 3\.0 MB: save less of it$/,
    )
  })
})
