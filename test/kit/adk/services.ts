import {
  FunctionTool,
  LlmAgent,
  LOAD_MEMORY,
  LongRunningFunctionTool,
  PRELOAD_MEMORY,
  SequentialAgent,
} from '@google/adk'
import {
  fold,
  type Interrupted,
  memoryLog,
  problemsView,
  type RunEvent,
  type RunInput,
  sessionFacts,
} from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { call, model, type OfflineScript, say, z } from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import { bench } from '../engine-kit.ts'
import { inputOf, outline, said } from '../run-agent.ts'

const llm = (offline: OfflineScript) => model({ offline })

/** An ADK agent behind the run engine and a log, with as many sessions and users as a test needs. */
function house(root: unknown, { resumable = false, log = memoryLog(() => 1_000) } = {}) {
  const own = bench([adkAgent('root', async () => root, { models: { tokensPerSecond: 0 }, resumable })], { log })
  const run = async (session: string, input: string | Partial<RunInput>, user = 'ann') => {
    const { run: id } = await own.start('root', { session, user, input: inputOf(input) })
    await own.engine.wait(session, id)
    return (await own.rows(session)).filter((row) => row.run === id).map(({ event }) => event)
  }
  const stateOf = async (session: string) => sessionFacts(await log.read(session, { after: 0 })).state
  return { log, run, stateOf }
}
const answerOf = (events: readonly RunEvent[]): string =>
  said(events)
    .flatMap(({ event }) => (event.partial === true ? [] : (event.content?.parts ?? [])))
    .map(({ text }) => text ?? '')
    .join('')

describe('state that sessions share', () => {
  const keep = new FunctionTool({
    name: 'keep',
    description: 'keeps a value',
    parameters: z.object({ key: z.string(), value: z.string() }),
    execute: ({ key, value }, context) => {
      context?.state.set(key, value)
      context?.state.set('temp:scratch', value)
      return 'kept'
    },
  })
  const root = () =>
    new LlmAgent({
      name: 'root',
      instruction: 'Motto: {app:motto?} Name: {user:name?}',
      model: llm(({ step, user: text, state }) => {
        const [word, key = '', value = ''] = text.split(' ')
        return word === 'keep' && step === 0 ? call('keep', { key, value }) : say(JSON.stringify(state))
      }),
      tools: [keep],
    })

  test('SPEC 2.11: user: values reach the user’s other sessions, app: values everyone’s, and each session records them', async () => {
    const { run, stateOf, log } = house(root())
    await run('a1', 'keep user:name Ann')
    await run('a1', 'keep app:motto safety')
    await run('a1', 'keep own 1')
    const second = await run('a2', 'show')
    expect(JSON.parse(answerOf(second))).toEqual({ 'user:name': 'Ann', 'app:motto': 'safety' })
    expect(second.slice(0, 2)).toMatchObject([{ kind: 'run.started' }, { kind: 'state' }])
    expect(await stateOf('a2')).toEqual({ 'user:name': 'Ann', 'app:motto': 'safety' })
    expect(JSON.parse(answerOf(await run('b1', 'show', 'bob')))).toEqual({ 'app:motto': 'safety' })
    // Nothing new to record: the next run has no patch.
    expect((await run('a2', 'show')).filter(({ kind }) => kind === 'state')).toEqual([])
    const deltas = (await log.read('a1', { after: 0 })).map(
      ({ event }) => event.kind === 'agent' && event.event.actions,
    )
    expect(JSON.stringify(deltas)).toContain('user:name')
    expect(JSON.stringify(deltas)).not.toContain('temp:')
  })
  test('the newest value wins, also over the state that a client sends back', async () => {
    const { run, stateOf } = house(root())
    await run('a1', 'keep user:name Ann')
    await run('a2', 'show')
    const stale = await stateOf('a2')
    await run('a1', 'keep user:name Anna')
    const again = await run('a2', { ...inputOf('show'), state: stale })
    expect(JSON.parse(answerOf(again))).toEqual({ 'user:name': 'Anna' })
    await run('a2', { ...inputOf('show'), state: { 'user:name': 'Annie' } })
    expect(JSON.parse(answerOf(await run('a1', 'show')))).toMatchObject({ 'user:name': 'Annie' })
  })
})

describe('memory', () => {
  test('load_memory finds what the user said in another session, and nothing of other users', async () => {
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ step, user: text, result }) => {
        if (!text.startsWith('recall')) return say('Noted, thank you.')
        return step === 0 ? call('load_memory', { query: text.slice(7) }) : say(JSON.stringify(result('load_memory')))
      }),
      tools: [LOAD_MEMORY],
    })
    const { run } = house(root)
    await run('a1', 'My favourite project is Project Alpha.')
    await run('b1', 'My favourite project is Project Beta.', 'bob')
    const found = JSON.parse(answerOf(await run('a2', 'recall favourite project')))
    expect(found.memories).toMatchObject([
      { author: 'user', content: 'My favourite project is Project Alpha.', timestamp: expect.stringMatching(/Z$/) },
    ])
    expect(JSON.parse(answerOf(await run('a3', 'recall zebra')))).toEqual({ memories: [] })
  })
  test('preload_memory puts it into the instruction, and a callback can add the session itself', async () => {
    const prompts: string[] = []
    const root = new LlmAgent({
      name: 'root',
      model: llm(() => say('Good.')),
      tools: [PRELOAD_MEMORY],
      beforeModelCallback: ({ request }) => {
        prompts.push(String(request.config?.systemInstruction ?? ''))
        return undefined
      },
      afterAgentCallback: async (context) => {
        const { memoryService, session } = context.invocationContext
        await memoryService?.addSessionToMemory(session)
        return undefined
      },
    })
    const { run } = house(root)
    await run('a1', 'The code word is Marmalade')
    await run('a1', 'Which code word was it?')
    expect(prompts[0]).not.toContain('PAST_CONVERSATIONS')
    expect(prompts[1]).toContain('user: The code word is Marmalade')
    await run('a2', 'code word please')
    expect(prompts[2]).toContain('user: The code word is Marmalade')
    await run('b1', 'code word please', 'bob')
    expect(prompts[3]).not.toContain('Marmalade')
  })
})

describe('artifacts of a user', () => {
  const save = new FunctionTool({
    name: 'save',
    description: 'saves',
    parameters: z.object({ name: z.string(), text: z.string() }),
    execute: async ({ name, text }, context) => ({ version: await context?.saveArtifact(name, { text }) }),
  })
  const load = new FunctionTool({
    name: 'load',
    description: 'loads',
    parameters: z.object({ name: z.string() }),
    execute: async ({ name }, context) => ({
      text: (await context?.loadArtifact(name))?.text ?? null,
      all: await context?.listArtifacts(),
    }),
  })
  const root = () =>
    new LlmAgent({
      name: 'root',
      model: llm(({ step, user: text, result }) => {
        const [word = '', name = '', more = ''] = text.split(' ')
        return step === 0 ? call(word, { name, text: more }) : say(JSON.stringify(result(word)))
      }),
      tools: [save, load],
    })

  test('user: names are in all sessions of the user, versions go on across them', async () => {
    const { run } = house(root())
    expect(JSON.parse(answerOf(await run('a1', 'save user:profile.txt one')))).toEqual({ version: 0 })
    await run('a1', 'save own.txt mine')
    expect(JSON.parse(answerOf(await run('a2', 'save user:profile.txt two')))).toEqual({ version: 1 })
    expect(JSON.parse(answerOf(await run('a1', 'load user:profile.txt')))).toEqual({
      text: 'two',
      all: ['own.txt', 'user:profile.txt'],
    })
    expect(JSON.parse(answerOf(await run('a2', 'load own.txt')))).toEqual({ text: null, all: ['user:profile.txt'] })
    expect(JSON.parse(answerOf(await run('b1', 'load user:profile.txt', 'bob')))).toEqual({ text: null, all: [] })
  })
})

describe('a long-running call that waits', () => {
  const root = () =>
    new LlmAgent({
      name: 'root',
      model: llm(({ step, user: text, result }) => {
        if (text === 'expense')
          return step === 0 ? call('approve', { amount: 5 }) : say(JSON.stringify(result('approve')))
        return say(`You said ${text}.`)
      }),
      tools: [
        new LongRunningFunctionTool({
          name: 'approve',
          description: 'asks a manager',
          parameters: z.object({ amount: z.number() }),
          execute: ({ amount }) => ({ status: 'pending', amount }),
        }),
      ],
    })
  const brief = (events: readonly RunEvent[]) => outline(events).filter((line) => !/[…<>]/.test(line))

  test('SPEC 4.5: does not lock the conversation; the question stays open and answerable', async () => {
    const { run, log } = house(root())
    const first = await run('a', 'expense')
    const asked = first.find((event): event is Interrupted => event.kind === 'interrupt')
    expect(asked).toBeDefined()
    const between = await run('a', 'hello')
    expect(brief(between)).toEqual(['run.started', 'root “You said hello.”', 'done'])
    expect([...sessionFacts(await log.read('a', { after: 0 })).open.keys()]).toEqual([asked?.id])
    const last = await run('a', {
      messages: [
        {
          id: 'm',
          role: 'user',
          content: {
            role: 'user',
            parts: [{ functionResponse: { id: asked?.call ?? '', name: 'approve', response: { status: 'approved' } } }],
          },
        },
      ],
    })
    expect(brief(last).slice(0, 2)).toEqual(['run.started', 'resumed resolved'])
    expect(last.at(-1)).toMatchObject({ kind: 'run.finished', outcome: 'done' })
    expect([...sessionFacts(await log.read('a', { after: 0 })).open.keys()]).toEqual([])
  })
})

describe('a pipeline that asks twice', () => {
  test('runs no step again that was done before the first answer', async () => {
    const ran: string[] = []
    const step = (name: string) =>
      new LlmAgent({
        name,
        model: llm(() => {
          ran.push(name)
          return say(name)
        }),
      })
    const asking = (name: string) =>
      new LlmAgent({
        name,
        model: llm(({ step: turn, result }) =>
          turn === 0 ? call(`ask_${name}`, {}) : say(`${result(`ask_${name}`)?.result}`),
        ),
        tools: [
          new FunctionTool({
            name: `ask_${name}`,
            description: 'asks',
            parameters: z.object({}),
            requireConfirmation: true,
            execute: () => `${name} is done`,
          }),
        ],
      })
    const pipe = new SequentialAgent({
      name: 'pipe',
      subAgents: [step('one'), asking('two'), asking('three'), step('four')],
    })
    const { run, log } = house(pipe)
    let events = await run('a', 'go')
    for (const _ of ['two', 'three']) {
      const asked = events.find((event): event is Interrupted => event.kind === 'interrupt')
      const resume = [{ interrupt: asked?.id ?? '', status: 'resolved' as const, payload: { confirmed: true } }]
      events = await run('a', { messages: [], resume })
    }
    expect(ran).toEqual(['one', 'four'])
    const rows = await log.read('a', { after: 0 })
    const nodes = rows.flatMap(({ event }) => (event.kind === 'node.started' ? [event.node.replace('pipe/', '')] : []))
    expect(nodes).toEqual(['pipe@1', 'one@1', 'two@1', 'pipe@2', 'two@2', 'three@1', 'pipe@3', 'three@2', 'four@1'])
    expect(fold(problemsView, rows).problems.toArray()).toEqual([])
  })
})

describe('a tool of an agent that goes on after a crash', () => {
  test('SPEC 4.6: runs when its call is in the log: only that call keeps its id after a crash', async () => {
    const log = memoryLog(() => 1_000)
    const found: boolean[] = []
    const pay = new FunctionTool({
      name: 'pay',
      description: 'pays',
      parameters: z.object({}),
      execute: async (_args, context) => {
        const rows = JSON.stringify(await log.read('a', { after: 0 }))
        found.push(rows.includes(context?.functionCallId ?? 'no id'))
        return 'paid'
      },
    })
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ step }) => (step < 2 ? [call('pay', {}), call('pay', {})] : say('done'))),
      tools: [pay],
    })
    const events = await house(root, { resumable: true, log }).run('a', 'go')
    expect(events.at(-1)).toMatchObject({ outcome: 'done' })
    expect(found).toEqual([true, true, true, true])
  })
})
