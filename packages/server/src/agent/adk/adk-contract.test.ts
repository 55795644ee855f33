import {
  AgentTool,
  BaseLlm,
  BasePlugin,
  BaseToolset,
  createSession,
  EXIT_LOOP,
  FunctionTool,
  InMemoryRunner,
  JoinNode,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  LongRunningFunctionTool,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  Workflow,
} from '@google/adk'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { outline, said, testSession } from '../../../../../test/kit/run-agent.ts'
import { call, model, type OfflineAgentScript, type OfflineScript, say, specialists } from '../../adk.ts'
import { isNested } from '../nested-event.ts'
import { type AdkAgentOptions, adkAgent } from './adk-agent.ts'
import { RunSessions } from './session.ts'
// One file for all that runs ADK: importing it takes two seconds, and every test file pays for its own.
import '../../../../../test/kit/adk/anthropic.ts'
import '../../../../../test/kit/adk/bad-input.ts'
import '../../../../../test/kit/adk/conversation.ts'
import '../../../../../test/kit/adk/interrupts.ts'
import '../../../../../test/kit/adk/model-silence.ts'
import '../../../../../test/kit/adk/models.ts'
import '../../../../../test/kit/adk/partials.ts'
import '../../../../../test/kit/adk/resume.ts'
import '../../../../../test/kit/adk/services.ts'
import '../../../../../test/kit/adk/specialists.ts'

// What @google/adk 2.0.0 does wrong or leaves out, and what a Millrace run makes of it. "ADK:" tests pin the library: when
// an upgrade turns one red, the work-around beside it can go. The numbers are those of the trap list.

const models = { tokensPerSecond: 0 }
const agentOf = (root: unknown, options: AdkAgentOptions = {}) =>
  adkAgent('root', async () => root, { models, ...options })
const llm = (offline: OfflineScript) => model({ offline })
const tool = (name: string, execute: () => unknown) =>
  new FunctionTool({ name, description: name, parameters: z.object({}), execute: async () => execute() })
const user = (text: string) => ({ role: 'user', parts: [{ text }] })

/** ADK alone, without any of ours: what it yields for one message. */
async function alone(agent: LlmAgent | SequentialAgent, plugins: BasePlugin[] = [], maxLlmCalls = 30) {
  const runner = new InMemoryRunner({ agent, appName: 'alone', plugins })
  const session = await runner.sessionService.createSession({ appName: 'alone', userId: 'u' })
  const events = []
  const params = { userId: 'u', sessionId: session.id, newMessage: user('go'), runConfig: { maxLlmCalls } }
  for await (const event of runner.runAsync(params)) events.push(event)
  return events
}

/** A model derived from BaseLlm, as an author may write one: yields the given responses, turn by turn. */
class TurnsLlm extends BaseLlm {
  calls = 0
  readonly #turns: readonly (readonly LlmResponse[])[]
  constructor(turns: readonly (readonly LlmResponse[])[]) {
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
const modelSays = (...parts: object[]): LlmResponse => ({ content: { role: 'model', parts } })

describe('1: the tool calls of one turn', () => {
  const together = () => {
    let most = 0
    let now = 0
    const work = async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 5))
      now -= 1
    }
    const script: OfflineAgentScript = ({ step }) => (step === 0 ? [call('a'), call('b'), call('c')] : say('done'))
    const tools = ['a', 'b', 'c'].map((name) => tool(name, work))
    return { root: new LlmAgent({ name: 'root', model: llm(script), tools }), most: () => most }
  }

  test('ADK: one after the other', async () => {
    const { root, most } = together()
    await alone(root)
    expect(most()).toBe(1)
  })
  test('here: in parallel, answered in the order of the calls', async () => {
    const { root, most } = together()
    const events = await testSession(agentOf(root)).run('go')
    expect(most()).toBe(3)
    expect(outline(said(events)).slice(0, 2)).toEqual(['root call a call b call c', 'root answer a answer b answer c'])
  })
  test('here: a guard in beforeToolCallback is asked before its tool runs, once', async () => {
    const ran: string[] = []
    const guarded: string[] = []
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ step }) => (step === 0 ? [call('a'), call('b')] : say('done'))),
      tools: ['a', 'b'].map((name) => tool(name, () => ran.push(name))),
      beforeToolCallback: ({ tool: { name } }) => {
        guarded.push(name)
        return name === 'b' ? { error: 'not allowed' } : undefined
      },
    })
    const events = await testSession(agentOf(root)).run('go')
    expect(ran).toEqual(['a'])
    expect(guarded).toEqual(['a', 'b'])
    expect(said(events)[1]?.event.content?.parts?.[1]?.functionResponse?.response).toEqual({ error: 'not allowed' })
  })
  test('here: so is a guard among the plugins of an App', async () => {
    const ran: string[] = []
    class Guard extends BasePlugin {
      override async beforeToolCallback({ tool: { name } }: { tool: { name: string } }) {
        return name === 'b' ? { error: 'not allowed' } : undefined
      }
    }
    const rootAgent = new LlmAgent({
      name: 'root',
      model: llm(({ step }) => (step === 0 ? [call('a'), call('b')] : say('done'))),
      tools: ['a', 'b'].map((name) => tool(name, () => ran.push(name))),
    })
    const events = await testSession(agentOf({ name: 'app', rootAgent, plugins: [new Guard('guard')] })).run('go')
    expect(ran).toEqual(['a'])
    expect(said(events)[1]?.event.content?.parts?.[1]?.functionResponse?.response).toEqual({ error: 'not allowed' })
    expect(outline(events).at(-1)).toBe('done')
  })
  test('here: each keeps its own state changes, artifacts and flow', async () => {
    const write = (key: string) =>
      new FunctionTool({
        name: `set_${key}`,
        description: 'sets',
        execute: async (_args, context) => {
          context?.state.set(key, `${key}!`)
          await context?.saveArtifact(`${key}.txt`, { text: key })
        },
      })
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ step }) => (step === 0 ? [call('set_x'), call('set_y')] : say('done'))),
      tools: [write('x'), write('y')],
    })
    const session = testSession(agentOf(root))
    const events = await session.run('go')
    expect(session.state).toEqual({ x: 'x!', y: 'y!' })
    const { actions } = said(events)[1]?.event ?? {}
    expect(actions).toMatchObject({ stateDelta: { x: 'x!', y: 'y!' }, artifactDelta: { 'x.txt': 0, 'y.txt': 0 } })
  })
})

describe('2, 3: AgentTool', () => {
  const asked: number[] = []
  const coordinator = () => {
    const child = new LlmAgent({
      name: 'child',
      model: llm(({ user: request, history }) => {
        asked.push(history.length)
        return say(`heard ${request}`)
      }),
    })
    const script: OfflineAgentScript = ({ step }) =>
      step < 2 ? call('child', { request: `request ${step}` }) : say('done')
    return new LlmAgent({ name: 'root', model: llm(script), tools: [new AgentTool({ agent: child })] })
  }

  test('ADK: remembers the call before, and shows nothing of what its agent says', async () => {
    asked.length = 0
    const events = await alone(coordinator())
    expect(asked).toEqual([1, 3])
    expect(events.some(({ author }) => author === 'child')).toBe(false)
  })
  test('here: every call is fresh, and its agent streams into the run', async () => {
    asked.length = 0
    const events = await testSession(agentOf(coordinator())).run('go')
    expect(asked).toEqual([1, 1])
    const nested = said(events).filter(({ event }) => isNested(event))
    expect(outline(nested).slice(0, 4)).toEqual([
      'child … “heard ”',
      'child … “request ”',
      'child … “0”',
      'child “heard request 0”',
    ])
  })
  test('here: the failure of its model is the answer', async () => {
    const child = new LlmAgent({
      name: 'child',
      model: new TurnsLlm([[{ errorCode: '429', errorMessage: 'slow down' }]]),
    })
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ step }) => (step === 0 ? call('child', { request: 'x' }) : say('it failed'))),
      tools: [new AgentTool({ agent: child })],
    })
    const events = await testSession(agentOf(root)).run('go')
    const answer = said(events).find(({ event }) => event.content?.parts?.[0]?.functionResponse !== undefined)
    expect(answer?.event.content?.parts?.[0]?.functionResponse?.response).toEqual({
      error: "'child' failed: slow down",
    })
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'node.finished', node: 'root/child@1', status: 'error' }),
    )
    expect(outline(events).at(-1)).toBe('done')
  })
})

describe('2: sessions that ADK makes on the way', () => {
  test('here: fresh for every call, and never the conversation’s own', async () => {
    const session = createSession({ id: 's1', appName: 'app', userId: 'u' })
    const sessions = new RunSessions(session, false)
    const request = { appName: 'child', userId: 'u', sessionId: 's1', state: { a: 1 } }
    const [one, two] = [await sessions.getOrCreateSession(request), await sessions.getOrCreateSession(request)]
    expect(new Set([session.id, one?.id, two?.id]).size).toBe(3)
    expect(await sessions.getSession({ ...request, sessionId: one?.id ?? '' })).toBe(one)
    await sessions.deleteSession({ ...request, sessionId: one?.id ?? '' })
    expect(await sessions.getSession({ ...request, sessionId: one?.id ?? '' })).toBeUndefined()
  })
  test('19, here: the session of a run is not copied', async () => {
    const session = createSession({ id: 's1', appName: 'app', userId: 'u' })
    const key = { appName: 'app', userId: 'u', sessionId: 's1' }
    expect(await new RunSessions(session, false).getSession(key)).toBe(session)
  })
})

describe('4: a tool that does not exist', () => {
  const asks = (name: string, times: number) => {
    let calls = 0
    const script: OfflineAgentScript = () => {
      calls += 1
      return calls <= times ? [call(name), call(name)] : say('done')
    }
    return { script, calls: () => calls }
  }

  test('ADK: calls the model until its limit', async () => {
    const { script, calls } = asks('nothing', 1000)
    await alone(new LlmAgent({ name: 'root', model: llm(script) }))
    expect(calls()).toBe(30)
  })
  test('here: the model gets the list of tools, and may try once more', async () => {
    const { script } = asks('nothing', 1)
    const root = new LlmAgent({ name: 'root', model: llm(script), tools: [tool('something', () => 1)] })
    const events = await testSession(agentOf(root)).run('go')
    expect(said(events)[1]?.event.content?.parts?.[0]?.functionResponse).toMatchObject({
      name: 'nothing',
      response: { error: "Unknown tool 'nothing'. Available: something." },
    })
    expect(outline(events).at(-1)).toBe('done')
  })
  test('here: the second time in a row ends the run', async () => {
    const { script, calls } = asks('nothing', 1000)
    const root = new LlmAgent({ name: 'root', model: llm(script), tools: [tool('something', () => 1)] })
    const events = await testSession(agentOf(root)).run('go')
    expect(calls()).toBe(2)
    expect(outline(events).at(-1)).toMatch(
      /^failed \(model-error: The model of 'root' called the unknown tool 'nothing' again/,
    )
    expect(outline(said(events)).at(-1)).toBe('root answer nothing answer nothing')
  })
  test('here: in a specialist it is the specialist that fails', async () => {
    const { script, calls } = asks('nothing', 1000)
    const child = new LlmAgent({ name: 'child', model: llm(script) })
    const root = new LlmAgent({
      name: 'root',
      model: llm(({ step, result }) =>
        step === 0 ? call('child', { request: '' }) : say(`${result('child')?.error}`),
      ),
      tools: specialists([child]),
    })
    const events = await testSession(agentOf(root)).run('go')
    expect(calls()).toBe(2)
    expect(outline(said(events)).at(-1)).toMatch(
      /^root “'child' failed: The model of 'child' called the unknown tool 'nothing' again/,
    )
    expect(outline(events).at(-1)).toBe('done')
  })
  test('here: the same for an agent that does not exist', async () => {
    let calls = 0
    const script: OfflineAgentScript = () => {
      calls += 1
      return call('transfer_to_agent', { agentName: 'nobody' })
    }
    const child = new LlmAgent({ name: 'child', model: llm(() => say('hi')) })
    const root = new LlmAgent({ name: 'root', model: llm(script), subAgents: [child] })
    const events = await testSession(agentOf(root)).run('go')
    expect(calls).toBe(2)
    expect(outline(events).at(-1)).toMatch(/^failed \(model-error: .*agent 'nobody'.*Available: child/)
  })
})

describe('5: long-running tools and workflows that throw', () => {
  const failing = () => {
    const wait = new LongRunningFunctionTool({
      name: 'wait',
      description: 'waits',
      execute: async () => {
        throw new Error('no queue')
      },
    })
    const flow = new Workflow({
      name: 'flow',
      description: 'flows',
      inputSchema: z.object({}),
      dynamicEntry: async () => {
        throw new Error('no river')
      },
    })
    const script: OfflineAgentScript = ({ step }) => (step === 0 ? [call('wait'), call('flow')] : say('done'))
    return new LlmAgent({ name: 'root', model: llm(script), tools: [wait, flow] })
  }
  test('ADK: the run just ends', async () => {
    const events = await alone(failing())
    expect(events.flatMap(({ content }) => content?.parts ?? []).some(({ functionResponse }) => functionResponse)).toBe(
      false,
    )
  })
  test('here: the model and the log get the error', async () => {
    const events = await testSession(agentOf(failing())).run('go')
    const answers = said(events).flatMap(
      ({ event }) => event.content?.parts?.flatMap((part) => part.functionResponse ?? []) ?? [],
    )
    expect(answers.map(({ response }) => response?.error)).toEqual([
      "Error in tool 'wait': no queue",
      expect.stringContaining('no river'),
    ])
    expect(outline(events).at(-1)).toBe('done')
  })
})

describe('6: pipelines', () => {
  test('here: an error of one agent ends the run; ADK would continue with the next', async () => {
    const first = new LlmAgent({ name: 'first', model: new TurnsLlm([[{ errorCode: '500', errorMessage: 'broken' }]]) })
    const second = new LlmAgent({ name: 'second', model: llm(() => say('never')) })
    const root = new SequentialAgent({ name: 'root', subAgents: [first, second] })
    const events = await testSession(agentOf(root)).run('go')
    expect(outline(events)).toEqual([
      '> root@1',
      '> root/first@1',
      'first !500',
      '< root/first@1 error',
      '< root@1 error',
      'failed (model-error: broken)',
    ])
    expect((await alone(root.clone())).map(({ author }) => author)).toEqual(['first', 'second'])
  })
  test('here: leaving a loop does not empty the output key', async () => {
    const drafter = () =>
      new LlmAgent({
        name: 'drafter',
        model: llm(({ state }) => (state.draft === undefined ? say('a draft') : call('exit_loop'))),
        outputKey: 'draft',
        tools: [EXIT_LOOP],
      })
    const session = testSession(agentOf(new LoopAgent({ name: 'root', subAgents: [drafter()], maxIterations: 5 })))
    await session.run('go')
    expect(session.state.draft).toBe('a draft')
  })
  test('here: nodes of a pipeline name the node before them; parallel nodes do not', async () => {
    const step = (name: string) => new LlmAgent({ name, model: llm(() => say(name)) })
    const fan = new ParallelAgent({ name: 'fan', subAgents: [step('a'), step('b')] })
    const root = new SequentialAgent({ name: 'root', subAgents: [step('first'), fan, step('last')] })
    const events = await testSession(agentOf(root)).run('go')
    const started = events.filter((event) => event.kind === 'node.started')
    expect(started.map(({ node, after }) => [node, after?.join()])).toEqual([
      ['root@1', undefined],
      ['root/first@1', undefined],
      ['root/fan@1', 'root/first@1'],
      ['root/fan/a@1', undefined],
      ['root/fan/b@1', undefined],
      ['root/last@1', 'root/fan@1'],
    ])
    const [a] = said(events).filter(({ event }) => event.author === 'a')
    expect(a?.event.branch).toBe('fan.a')
    expect(a !== undefined && isNested(a.event)).toBe(false)
  })
})

describe('7: stopping', () => {
  test('reaches the model in the middle of a sentence', async () => {
    const stop = new AbortController()
    const root = new LlmAgent({ name: 'root', model: llm(() => say('word '.repeat(10_000))) })
    const events = await testSession(agentOf(root)).run('go', {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind === 'agent') stop.abort()
      },
    })
    expect(said(events).length).toBeLessThan(10)
  })
  test('reaches a tool, and does not wait for one that does not listen', async () => {
    const stop = new AbortController()
    let aborted: boolean | undefined
    const deaf = new FunctionTool({
      name: 'deaf',
      description: 'never ends',
      execute: (_args, context) => {
        queueMicrotask(() => {
          stop.abort()
          aborted = context?.abortSignal?.aborted
        })
        return new Promise(() => undefined)
      },
    })
    const root = new LlmAgent({ name: 'root', model: llm(() => call('deaf')), tools: [deaf] })
    const events = await testSession(agentOf(root)).run('go', { signal: stop.signal })
    expect(aborted).toBe(true)
    expect(events.some(({ kind }) => kind === 'run.finished')).toBe(false)
  })
})

describe('9: toolsets', () => {
  test('are closed by the last run that uses them', async () => {
    const close = vi.fn()
    class Tools extends BaseToolset {
      override async getTools() {
        return [tool('work', () => new Promise((resolve) => setTimeout(resolve, 5)))]
      }
      override async close() {
        close()
      }
    }
    const script: OfflineAgentScript = ({ step }) => (step === 0 ? call('work') : say('done'))
    const root = new LlmAgent({ name: 'root', model: llm(script), tools: [new Tools([])] })
    const agent = agentOf(root)
    await Promise.all(['s1', 's2', 's3'].map((id) => testSession(agent, id).run('go')))
    expect(close).toHaveBeenCalledTimes(1)
  })
})

describe('12: function calls in partials', () => {
  const once = () => modelSays({ functionCall: { name: 'once', args: {} } })
  const half = () => new TurnsLlm([[{ ...once(), partial: true }, once()], [modelSays({ text: 'done' })]])
  test('ADK: run, and run again when the call is whole', async () => {
    const ran = vi.fn()
    await alone(new LlmAgent({ name: 'root', model: half(), tools: [tool('once', ran)] }))
    expect(ran).toHaveBeenCalledTimes(2)
  })
  test('here: only the whole call runs', async () => {
    const ran = vi.fn()
    const root = new LlmAgent({ name: 'root', model: half(), tools: [tool('once', ran)] })
    const events = await testSession(agentOf(root)).run('go')
    expect(ran).toHaveBeenCalledTimes(1)
    expect(outline(said(events))).toEqual(['root call once', 'root answer once', 'root “done”'])
  })
})

describe('15: console', () => {
  test('a run prints nothing, deprecated agents and failures included', async () => {
    const spies = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
    try {
      const step = new LlmAgent({ name: 'step', model: llm(() => call('nothing')) })
      const root = new SequentialAgent({ name: 'root', subAgents: [step] })
      await testSession(agentOf(root)).run('go')
      for (const spy of spies) expect(spy.mock.calls).toEqual([])
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  })
})

describe('plugins', () => {
  test('ADK: never calls beforeAgentCallback, so nodes are traced in the agents themselves', async () => {
    const before = vi.fn()
    class Watcher extends BasePlugin {
      override async beforeAgentCallback() {
        before()
        return undefined
      }
    }
    await alone(new LlmAgent({ name: 'root', model: llm(() => say('hi')) }), [new Watcher('watcher')])
    expect(before).not.toHaveBeenCalled()
  })

  class Excuse extends BasePlugin {
    override async onModelErrorCallback({ error }: { error: Error }) {
      return modelSays({ text: `sorry: ${error.message}` })
    }
  }
  const failing = () => {
    const model = new TurnsLlm([])
    model.generateContentAsync = () => {
      throw new Error('no ink')
    }
    return new LlmAgent({ name: 'writer', model })
  }

  test('ADK: fails with an answer in place of a model’s error, because that is no event', async () => {
    await expect(alone(failing(), [new Excuse('excuse')])).rejects.toThrow('skipSummarization')
  })

  test('here: that answer is the agent’s', async () => {
    const app = { name: 'app', rootAgent: failing(), plugins: [new Excuse('excuse')] }
    const lines = outline(await testSession(agentOf(app)).run('go'))
    expect(lines).toContain('writer “sorry: no ink”')
    expect(lines.at(-1)).toBe('done')
  })
})

describe('workflows', () => {
  const step = (name: string) => new LlmAgent({ name, model: llm(() => say(name)) })

  test('run as a root: each node under the workflow, its events its own, and nothing else printed', async () => {
    const join = new JoinNode({ name: 'join' })
    const root = new Workflow({ name: 'root', edges: [['START', [step('a'), step('b')], join, step('z')]] })
    const agent = agentOf(root)
    const events = await testSession(agent).run('go')
    expect(outline(events).at(-1)).toBe('done')
    const nodes = events.flatMap((event) => (event.kind === 'node.started' ? [event.node] : []))
    expect(nodes.filter((node) => !node.includes('START'))).toEqual([
      'root@1',
      'root/a@1',
      'root/b@1',
      'root/join@1',
      'root/z@1',
    ])
    for (const { event, node } of said(events)) if (event.content) expect(node).toBe(`root/${event.author}@1`)
    const order = outline(events)
    expect(order.indexOf('< root/a@1')).toBeGreaterThan(order.indexOf('a “a”'))
    expect(order.indexOf('< root/z@1')).toBeGreaterThan(order.indexOf('z “z”'))
    expect((await agent.describe()).graph.edges).toContainEqual({ from: 'join', to: 'z' })
  })

  test('a node that fails for good fails the run', async () => {
    const broken = new LlmAgent({
      name: 'broken',
      model: new TurnsLlm([[{ errorCode: '500', errorMessage: 'no ink' }]]),
    })
    const events = await testSession(agentOf(new Workflow({ name: 'root', edges: [['START', broken]] }))).run('go')
    expect(outline(events).at(-1)).toMatch(/^failed \(agent-error: .*no ink/)
  })

  test('as a tool they stream into the run, and their end is the answer', async () => {
    const flow = new Workflow({
      name: 'flow',
      description: 'flows',
      inputSchema: z.object({ request: z.string() }),
      dynamicEntry: async (context, input) => (await context.runNode(step('a'), input, { useSubBranch: true })).output,
    })
    const script: OfflineAgentScript = ({ step: turn, result }) =>
      turn === 0 ? call('flow', { request: 'x' }) : say(JSON.stringify(result('flow')))
    const events = await testSession(agentOf(new LlmAgent({ name: 'root', model: llm(script), tools: [flow] }))).run(
      'go',
    )
    const order = outline(events)
    expect(order).toContain('a “a”')
    expect(order.indexOf('< root/flow/a@1')).toBeGreaterThan(order.indexOf('a “a”'))
    expect(order.slice(-3)).toEqual(['root “{"result":"a"}”', '< root@1', 'done'])
  })
})
