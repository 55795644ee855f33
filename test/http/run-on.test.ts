import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FunctionTool, LlmAgent } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { Annotation, END, interrupt, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import type { Change, ChangePlan, EventLog, Recorded, RunEvent, SessionInfo } from '@millrace/core'
import { type Agent, adkAgent, graphAgent, sqliteLog } from '@millrace/server'
import { call, model, say, specialists, z } from '@millrace/server/adk'
import { chatModel } from '@millrace/server/langgraph'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

/** What was really called, in order: models by agent, tools by name. */
const calls: string[] = []
const models = { tokensPerSecond: 0 }

const lookUp = new FunctionTool({
  name: 'look_up',
  description: 'The acres of a fire',
  parameters: z.object({ fire: z.string() }),
  execute: ({ fire }) => {
    calls.push(`look_up ${fire}`)
    return { acres: 100 }
  },
})
const analyst = new LlmAgent({
  name: 'analyst',
  model: model({
    offline: ({ step, user, result, instruction }) => {
      calls.push('analyst')
      return step === 0
        ? call('look_up', { fire: user })
        : say(`${result('look_up')?.acres} acres${instruction.includes('shout') ? '!' : ''}`)
    },
  }),
  instruction: 'Find the acres.',
  tools: [lookUp],
})
const lead = new LlmAgent({
  name: 'lead',
  model: model({
    offline: ({ step, user, result, state, history }) => {
      calls.push('lead')
      if (step === 0) return call('analyst', { request: user })
      return say(`${String(state.tone ?? 'plain')}: ${result('analyst')?.result} (${history.length})`)
    },
  }),
  instruction: 'Answer.',
  tools: specialists([analyst]),
})

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  tone: Annotation<string>(),
  trail: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const measure = tool(
  async ({ fire }) => {
    calls.push(`measure ${fire}`)
    return JSON.stringify({ acres: 100 })
  },
  { name: 'measure', description: 'The acres of a fire', schema: z.object({ fire: z.string() }) },
)
const llm = chatModel({
  name: 'offline',
  offline: {
    think: ({ step, user, result, instruction }) => {
      calls.push('think')
      if (step === 0) return call('measure', { fire: user })
      return say(`${result('measure')?.acres} acres${instruction.includes('shout') ? '!' : ''}`)
    },
  },
}).bindTools?.([measure])
const callsTools = (message: object | undefined): boolean =>
  message !== undefined && 'tool_calls' in message && Array.isArray(message.tool_calls) && message.tool_calls.length > 0
const graphOf = () =>
  new StateGraph(State)
    .addNode('plan', async () => {
      calls.push('plan')
      return { tone: 'plain', trail: ['plan'] }
    })
    .addNode('think', async ({ messages }) => ({ messages: [await llm?.invoke(messages)], trail: ['think'] }))
    .addNode('tools', new ToolNode([measure]))
    .addNode('close', async ({ messages, tone }) => {
      calls.push('close')
      return { messages: [{ role: 'assistant', content: `${tone}: ${messages.at(-1)?.content}` }] }
    })
    .addNode('shorten', async () => {
      calls.push('shorten')
      return { messages: [{ role: 'assistant', content: 'short' }] }
    })
    .addEdge(START, 'plan')
    .addConditionalEdges('plan', ({ tone }) => (tone === 'short' ? 'shorten' : 'think'), ['think', 'shorten'])
    .addConditionalEdges('think', ({ messages }) => (callsTools(messages.at(-1)) ? 'tools' : 'close'), [
      'tools',
      'close',
    ])
    .addEdge('tools', 'think')
    .addEdge('close', END)
    .addEdge('shorten', END)
    .compile()

/** Two steps at the same time, and one after both. */
const step = (name: string) => async () => {
  calls.push(name)
  return { trail: [name] }
}
const fanOf = () =>
  new StateGraph(State)
    .addNode('left', step('left'))
    .addNode('right', step('right'))
    .addNode('join', async ({ tone, trail }) => {
      calls.push('join')
      return { messages: [{ role: 'assistant', content: `${tone}: ${[...trail].sort().join()}` }] }
    })
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge(['left', 'right'], 'join')
    .addEdge('join', END)
    .compile()

/** A step for each of three things, at the same time. */
const sentOf = () =>
  new StateGraph(State)
    .addNode('deal', step('deal'))
    .addNode('worker', async ({ tone }) => {
      calls.push(`worker ${tone}`)
      return { trail: [`worker ${tone}`] }
    })
    .addNode('close', async ({ tone, trail }) => {
      calls.push('close')
      return { messages: [{ role: 'assistant', content: `${tone}: ${[...trail].sort().join()}` }] }
    })
    .addEdge(START, 'deal')
    .addConditionalEdges('deal', () => ['a', 'b', 'c'].map((tone) => new Send('worker', { tone })), ['worker'])
    .addEdge('worker', 'close')
    .addEdge('close', END)
    .compile()

const askedOf = () =>
  new StateGraph(State)
    .addNode('plan', step('plan'))
    .addNode('ask', async () => {
      const answer = String(interrupt('Go on?'))
      calls.push(`answer ${answer}`)
      return { trail: [answer] }
    })
    .addNode('close', async ({ tone, trail }) => ({
      messages: [{ role: 'assistant', content: `${tone}: ${trail.join()}` }],
    }))
    .addEdge(START, 'plan')
    .addEdge('plan', 'ask')
    .addEdge('ask', 'close')
    .addEdge('close', END)
    .compile()

/** A graph inside another one. */
const nestedOf = () => {
  const inner = new StateGraph(State)
    .addNode('one', step('one'))
    .addNode('two', async ({ tone }) => {
      calls.push(`two ${tone}`)
      return { trail: ['two'] }
    })
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END)
    .compile()
  return new StateGraph(State)
    .addNode('plan', step('plan'))
    .addNode('inner', inner)
    .addNode('close', async ({ tone }) => {
      calls.push('close')
      return { messages: [{ role: 'assistant', content: String(tone) }] }
    })
    .addEdge(START, 'plan')
    .addEdge('plan', 'inner')
    .addEdge('inner', 'close')
    .addEdge('close', END)
    .compile()
}

/** A graph with a model and a tool, and without the key `tone`, inside another one. `kept`: whether it has checkpoints. */
const Words = Annotation.Root(MessagesAnnotation.spec)
const keylessOf = (kept: boolean) => {
  const inner = new StateGraph(Words)
    .addNode('think', async ({ messages }) => ({ messages: [await llm?.invoke(messages)] }))
    .addNode('tools', new ToolNode([measure]))
    .addNode('note', async () => {
      calls.push('note')
      return {}
    })
    .addEdge(START, 'think')
    .addConditionalEdges('think', ({ messages }) => (callsTools(messages.at(-1)) ? 'tools' : 'note'), ['tools', 'note'])
    .addEdge('tools', 'think')
    .addEdge('note', END)
    .compile(kept ? {} : { checkpointer: false })
  return new StateGraph(State)
    .addNode('plan', step('plan'))
    .addNode('inner', inner)
    .addNode('close', async ({ tone, messages }) => {
      calls.push('close')
      return { messages: [{ role: 'assistant', content: `${tone}: ${messages.at(-1)?.content}` }] }
    })
    .addEdge(START, 'plan')
    .addEdge('plan', 'inner')
    .addEdge('inner', 'close')
    .addEdge('close', END)
    .compile()
}

/** Graphs two deep; each of them has a step that tells what it knows of the changed key. */
const tells =
  (name: string) =>
  async ({ tone }: { readonly tone?: string }) => {
    calls.push(`${name} ${tone}`)
    return {}
  }
const deepOf = (innermost: boolean) => {
  const Trail = Annotation.Root({ trail: State.spec.trail })
  // The innermost one gives no tone to the graph around it.
  const state = innermost ? State : (Trail as unknown as typeof State)
  const deep = new StateGraph({ state, output: Trail })
    .addNode('one', step('one'))
    .addNode('two', tells('two'))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END)
    .compile()
  const middle = new StateGraph(State)
    .addNode('first', step('first'))
    .addNode('deep', deep)
    .addNode('tell', tells('middle'))
    .addEdge(START, 'first')
    .addEdge('first', 'deep')
    .addEdge('deep', 'tell')
    .addEdge('tell', END)
    .compile()
  const Outer = Annotation.Root({ ...MessagesAnnotation.spec, trail: State.spec.trail, tone: Annotation<string>() })
  return new StateGraph(Outer)
    .addNode('middle', middle)
    .addNode('close', async ({ tone }) => {
      calls.push('close')
      return { messages: [{ role: 'assistant', content: String(tone) }] }
    })
    .addEdge(START, 'middle')
    .addEdge('middle', 'close')
    .addEdge('close', END)
    .compile()
}

const withPrompts = (agent: Agent): Agent => ({
  ...agent,
  async describe() {
    const about = await agent.describe()
    return { ...about, capabilities: { ...about.capabilities, changedPrompts: true } }
  },
})
const far = scriptedAgent('far', () => [{ kind: 'log', level: 'info', message: 'hi' }], { engine: 'remote' })

describe('change one thing and run on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-run-on-'))
  let log: EventLog
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  let known = 0

  beforeAll(async () => {
    log = await sqliteLog({ folder, now: Date.now })
    server = await testServer({
      log,
      with: [
        adkAgent('fires', async () => lead, { models }),
        withPrompts(graphAgent('graph', async () => ({ graph: graphOf() as never, resumable: true }), models)),
        graphAgent('unkept', async () => ({ graph: graphOf() as never }), models),
        graphAgent('fan', async () => ({ graph: fanOf() as never, resumable: true }), models),
        graphAgent('sent', async () => ({ graph: sentOf() as never }), models),
        graphAgent('nested', async () => ({ graph: nestedOf() as never }), models),
        graphAgent('keyless', async () => ({ graph: keylessOf(true) as never }), models),
        graphAgent('forgetful', async () => ({ graph: keylessOf(false) as never }), models),
        graphAgent('deep', async () => ({ graph: deepOf(true) as never }), models),
        graphAgent('deep-keyless', async () => ({ graph: deepOf(false) as never }), models),
        graphAgent('asked', async () => ({ graph: askedOf() as never }), models),
        graphAgent('bare', async () => ({ graph: fanOf() as never }), models),
        far,
      ],
    })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await server.close(0)
    await log.close()
    rmSync(folder, { recursive: true })
  })
  beforeEach(() => {
    calls.length = 0
  })

  const ask = async (path: string, body?: object) => {
    const answer = await fetch(`${address}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const json = async <T>(path: string, body?: object): Promise<T> => {
    const { status, text } = await ask(path, body)
    expect(status, text).toBeLessThan(300)
    return JSON.parse(text) as T
  }
  const exported = async (id: string) => (await ask(`/sessions/${id}/log`)).text
  const rowsOf = (id: string): Promise<readonly Recorded[]> => log.read(id, { after: 0 })
  const told = async (agent: string, text = 'cedar', session = `s${++known}`) => {
    const message = { id: `m${++known}`, role: 'user', content: { role: 'user', parts: [{ text }] } }
    const { run } = await json<{ run: string }>(`/sessions/${session}/runs`, { agent, input: { messages: [message] } })
    await server.engine.wait(session, run)
    return { session, run, rows: await rowsOf(session) }
  }
  /** Changes, waits for the end, and checks that the original is the same, byte for byte. */
  const changed = async (session: string, change: Change) => {
    const before = await exported(session)
    const plan = await json<ChangePlan>(`/sessions/${session}/run-on/plan`, { change })
    calls.length = 0
    const made = await json<{ session: SessionInfo; run: string }>(`/sessions/${session}/run-on`, { change })
    const outcome = await server.engine.wait(made.session.id, made.run)
    expect(await exported(session)).toBe(before)
    const { problems } = await json<{ problems: { severity: string }[] }>(`/sessions/${made.session.id}/views/problems`)
    expect(problems.filter(({ severity }) => severity !== 'info')).toEqual([])
    return { plan, outcome, fork: made.session, run: made.run, rows: await rowsOf(made.session.id), called: [...calls] }
  }
  const refused = async (session: string, change: Change) => {
    const [plan, made] = await Promise.all(
      ['run-on/plan', 'run-on'].map((path) => ask(`/sessions/${session}/${path}`, { change })),
    )
    const said = JSON.parse(made?.text ?? '') as { status: number; detail: string }
    // The page asks before the click, and a refusal is no error in the console of a browser.
    expect(plan).toEqual({ status: 200, text: JSON.stringify({ refusal: said.detail }) })
    return `${said.status} ${said.detail}`
  }
  const eventsOf = (rows: readonly Recorded[]): readonly RunEvent[] => rows.map(({ event }) => event)
  const lastText = (rows: readonly Recorded[]): string | undefined =>
    eventsOf(rows)
      .flatMap((event) =>
        event.kind === 'agent' && event.event.partial !== true ? (event.event.content?.parts ?? []) : [],
      )
      .findLast(({ text }) => text !== undefined && text !== '')?.text
  const callOf = (rows: readonly Recorded[], name: string): string =>
    eventsOf(rows).flatMap((event) => (event.kind === 'tool.finished' && event.name === name ? [event.call] : []))[0] ??
    ''
  const modelCalls = (rows: readonly Recorded[], agent: string): readonly string[] =>
    eventsOf(rows).flatMap((event) => (event.kind === 'model.started' && event.agent === agent ? [event.call] : []))
  const startOf = (rows: readonly Recorded[], node: string): number =>
    rows.find(({ event }) => event.kind === 'node.started' && event.node === node)?.seq ?? 0
  const record = (rows: readonly Recorded[]): RunEvent | undefined =>
    eventsOf(rows).find(({ kind }) => kind === 'changed')

  test('SPEC 4.10: an ADK run goes on with another result of a tool, and calls nothing again that came before', async () => {
    const { session, run, rows } = await told('fires')
    expect(calls).toEqual(['lead', 'analyst', 'look_up cedar', 'analyst', 'lead'])
    expect(lastText(rows)).toBe('plain: 100 acres (1)')
    const call = callOf(rows, 'look_up')
    const made = await changed(session, { field: 'tool', run, call, result: { acres: 7 } })
    expect(made.called).toEqual(['analyst', 'lead'])
    expect(made.plan).toMatchObject({
      agent: 'fires',
      run,
      reused: { modelCalls: 2, toolCalls: 0 },
      again: { modelCalls: 2, toolCalls: 1 },
    })
    expect(made.outcome).toBe('done')
    expect(lastText(made.rows)).toBe('plain: 7 acres (1)')
    expect(record(made.rows)).toMatchObject({
      field: 'tool',
      by: 'user',
      of: { session, run },
      agent: 'analyst',
      name: 'look_up',
      call,
      before: { acres: 100 },
      after: { acres: 7 },
    })
    expect(made.fork.forkOf).toEqual({ session, seq: 0 })
    expect((await exported(made.fork.id)).includes('"kind":"changed"')).toBe(true)
  })

  test('an ADK run goes on with another result of a specialist, with another state, and with another request', async () => {
    const { session, run, rows } = await told('fires')
    const whole = await changed(session, {
      field: 'tool',
      run,
      call: callOf(rows, 'analyst'),
      result: { result: 'none' },
    })
    expect(whole.called).toEqual(['lead'])
    expect(lastText(whole.rows)).toBe('plain: none (1)')
    const [first, second] = modelCalls(rows, 'lead')
    const at = (rows.find(({ event }) => event.kind === 'model.started' && event.call === second)?.seq ?? 0) - 1
    const patch = [{ op: 'add', path: '/tone', value: 'kind' }] as const
    const state = await changed(session, { field: 'state', run, seq: at, patch })
    expect(state.called).toEqual(['lead'])
    expect(lastText(state.rows)).toBe('kind: 100 acres (1)')
    const last = modelCalls(rows, 'analyst')[1] ?? ''
    const prompt = await changed(session, { field: 'prompt', run, call: last, system: 'Please shout.' })
    expect(prompt.called).toEqual(['analyst', 'lead'])
    expect(lastText(prompt.rows)).toBe('plain: 100 acres! (1)')
    const contents = [{ role: 'user', parts: [{ text: 'aspen' }] }]
    const asked = await changed(session, { field: 'prompt', run, call: first ?? '', contents })
    expect(asked.called).toEqual(['lead', 'analyst', 'look_up aspen', 'analyst', 'lead'])
    expect(asked.plan.reused).toEqual({ modelCalls: 0, toolCalls: 0 })
  })

  test('SPEC 1.12: a run starts with another message, after what was said before it, and the log says what was changed', async () => {
    const { session } = await told('fires')
    const { run } = await told('fires', 'aspen', session)
    const made = await changed(session, { field: 'message', run, text: 'birch' })
    expect(made.called).toEqual(['lead', 'analyst', 'look_up birch', 'analyst', 'lead'])
    expect(made.plan.again).toEqual({ modelCalls: 4, toolCalls: 2 })
    expect(record(made.rows)).toMatchObject({ field: 'message', before: 'aspen', after: 'birch' })
    const asked = eventsOf(made.rows).flatMap((event) => (event.kind === 'run.started' ? event.input.messages : []))
    expect(asked.map(({ content }) => content.parts?.[0]?.text)).toEqual(['cedar', 'birch'])
  })

  test('SPEC 4.7: a run that took the place of another one does so with another message, too', async () => {
    const { session, run: gone } = await told('fires')
    const message = { id: 'again', role: 'user', content: { role: 'user', parts: [{ text: 'aspen' }] } } as const
    const again = { session, user: 'user', agent: 'fires', run: 'again', replaces: [gone] }
    await server.engine.start({ ...again, input: { messages: [message] } })
    await server.engine.wait(session, 'again')
    expect(lastText(await rowsOf(session))).toBe('plain: 100 acres (1)')
    const made = await changed(session, { field: 'message', run: 'again', text: 'birch' })
    // The agent does not see the run that was replaced.
    expect(lastText(made.rows)).toBe('plain: 100 acres (1)')
  })

  test('a graph goes on from its checkpoint with another state, result and request', async () => {
    const { session, run, rows } = await told('graph')
    expect(calls).toEqual(['plan', 'think', 'measure cedar', 'think', 'close'])
    expect(lastText(rows)).toBe('plain: 100 acres')
    const seq = startOf(rows, 'close@1') - 1
    const kind = await changed(session, {
      field: 'state',
      run,
      seq,
      patch: [{ op: 'add', path: '/tone', value: 'kind' }],
    })
    expect(kind.called).toEqual(['close'])
    expect(lastText(kind.rows)).toBe('kind: 100 acres')
    expect(kind.plan).toMatchObject({ reused: { modelCalls: 2, toolCalls: 1 }, again: { modelCalls: 0, toolCalls: 0 } })

    const result = await changed(session, { field: 'tool', run, call: callOf(rows, 'measure'), result: { acres: 7 } })
    expect(result.called).toEqual(['think', 'close'])
    expect(lastText(result.rows)).toBe('plain: 7 acres')
    const { state } = await json<{ state: { messages: { content: string }[] } }>(`/sessions/${result.fork.id}/state`)
    expect(state.messages.map(({ content }) => content)).toEqual([
      'cedar',
      '',
      '{"acres":7}',
      '7 acres',
      'plain: 7 acres',
    ])

    const call = modelCalls(rows, 'think')[1] ?? ''
    const prompt = await changed(session, { field: 'prompt', run, call, system: 'Please shout.' })
    expect(prompt.called).toEqual(['think', 'close'])
    expect(lastText(prompt.rows)).toBe('plain: 100 acres!')
    const sent = eventsOf(prompt.rows).findLast(({ kind }) => kind === 'model.started')
    expect(JSON.stringify(sent)).toContain('Please shout.')
  })

  test('a changed state takes the edges of a graph anew, and the steps keep what they had added', async () => {
    const { session, run, rows } = await told('graph')
    const seq = startOf(rows, 'think@1') - 1
    const made = await changed(session, {
      field: 'state',
      run,
      seq,
      patch: [{ op: 'replace', path: '/tone', value: 'short' }],
    })
    expect(made.called).toEqual(['shorten'])
    const { state } = await json<{ state: { trail: string[]; tone: string } }>(`/sessions/${made.fork.id}/state`)
    expect(state).toMatchObject({ trail: ['plan'], tone: 'short' })
  })

  // Neither graph has a checkpointer of its own; this one is not resumable after a crash either.
  test('a graph that is not resumable is changed at any of its steps, also between the end of one and its checkpoint', async () => {
    const { session, run, rows } = await told('unkept')
    const patch = [{ op: 'add', path: '/tone', value: 'kind' }] as const
    const last = rows.findLast(({ event }) => event.kind === 'node.finished' && event.node === 'think@2')?.seq ?? 0
    for (const seq of [last, startOf(rows, 'close@1') - 1]) {
      const made = await changed(session, { field: 'state', run, seq, patch })
      expect(made.called).toEqual(['close'])
      expect(lastText(made.rows)).toBe('kind: 100 acres')
    }
    const result = await changed(session, { field: 'tool', run, call: callOf(rows, 'measure'), result: { acres: 7 } })
    expect(result.called).toEqual(['think', 'close'])
  })

  test.each(['fan', 'bare'])('a state is changed before parallel steps, and all of them run: %s', async (agent) => {
    const { session, run, rows } = await told(agent)
    const first = Math.min(startOf(rows, 'left@1'), startOf(rows, 'right@1'))
    const patch = [{ op: 'add', path: '/tone', value: 'kind' }] as const
    const made = await changed(session, { field: 'state', run, seq: first - 1, patch })
    expect([...made.called].sort()).toEqual(['join', 'left', 'right'])
    expect(lastText(made.rows)).toBe('kind: left,right')
    const last = await changed(session, { field: 'state', run, seq: startOf(rows, 'join@1') - 1, patch })
    expect(last.called).toEqual(['join'])
    expect(lastText(last.rows)).toBe('kind: left,right')
  })

  test('SPEC 4.10: steps that were sent, and have ended, do not run again when the state after them is changed', async () => {
    const { session, run, rows } = await told('sent')
    const patch = [{ op: 'add', path: '/tone', value: 'kind' }] as const
    const ended = rows.findLast(({ event }) => event.kind === 'node.finished' && event.node.startsWith('worker'))
    for (const seq of [ended?.seq ?? 0, startOf(rows, 'close@1') - 1, startOf(rows, 'close@1')]) {
      const made = await changed(session, { field: 'state', run, seq, patch })
      expect(made.called).toEqual(['close'])
      expect(lastText(made.rows)).toBe('kind: deal,worker a,worker b,worker c')
    }
  })

  test('SPEC 4.10: steps of a graph inside another that had ended do not run again when the state after them is changed', async () => {
    const { session, run, rows } = await told('nested')
    const patch = [{ op: 'add', path: '/tone', value: 'kind' }] as const
    const first = rows.find(({ event }) => event.kind === 'node.finished' && event.node.startsWith('inner/one'))
    for (const seq of [first?.seq ?? 0, startOf(rows, 'inner/two@1')]) {
      const made = await changed(session, { field: 'state', run, seq, patch })
      expect(made.called).toEqual(['two kind', 'close'])
      expect(lastText(made.rows)).toBe('kind')
      expect((await json<{ state: object }>(`/sessions/${made.fork.id}/state`)).state).toMatchObject({ tone: 'kind' })
    }
  })

  const toneKind = [{ op: 'add', path: '/tone', value: 'kind' }] as const

  test('SPEC 4.10: a graph inside another one goes on where it was, also without the changed key', async () => {
    const { session, run, rows } = await told('keyless')
    expect(calls).toEqual(['plan', 'think', 'measure cedar', 'think', 'note', 'close'])
    const ended = rows.findLast(({ event }) => event.kind === 'node.finished' && event.node.startsWith('inner/tools'))
    for (const [seq, models, called] of [
      [ended?.seq ?? 0, 1, ['think', 'note', 'close']],
      [startOf(rows, 'inner/note@1'), 2, ['note', 'close']],
    ] as const) {
      const made = await changed(session, { field: 'state', run, seq, patch: toneKind })
      expect(made.called).toEqual(called)
      expect(made.plan).toMatchObject({
        reused: { modelCalls: models, toolCalls: 1 },
        again: { modelCalls: 2 - models, toolCalls: 0 },
      })
      expect(lastText(made.rows)).toBe('kind: 100 acres')
    }
  })

  test('SPEC 4.10: a graph inside another one that keeps no checkpoints runs again, and the plan says so', async () => {
    const { session, run, rows } = await told('forgetful')
    const made = await changed(session, {
      field: 'state',
      run,
      seq: startOf(rows, 'inner/note@1'),
      patch: toneKind,
    })
    expect(made.called).toEqual(['think', 'measure cedar', 'think', 'note', 'close'])
    expect(made.plan).toMatchObject({
      reused: { modelCalls: 0, toolCalls: 0 },
      again: { modelCalls: 2, toolCalls: 1 },
    })
    expect(lastText(made.rows)).toBe('kind: 100 acres')
  })

  test.each([
    ['deep', 'two kind', 'two short'],
    ['deep-keyless', 'two undefined', 'two undefined'],
  ])(
    'SPEC 4.10: each of the graphs inside each other has the changed state, and no ended step runs again: %s',
    async (agent, first, second) => {
      const { session, run, rows } = await told(agent)
      const seq = startOf(rows, 'middle/deep/two@1')
      const made = await changed(session, { field: 'state', run, seq, patch: toneKind })
      expect(made.called).toEqual([first, 'middle kind', 'close'])
      expect(lastText(made.rows)).toBe('kind')
      // Changed once more at the same step: the first change does not count any more.
      const again = [{ op: 'add', path: '/tone', value: 'short' }] as const
      const at = startOf(made.rows, 'middle/deep/two@2')
      const twice = await changed(made.fork.id, { field: 'state', run: made.run, seq: at, patch: again })
      expect(twice.called).toEqual([second, 'middle short', 'close'])
      expect(lastText(twice.rows)).toBe('short')
    },
  )

  test('SPEC 4.10: what a reducer has gathered is replaced in each graph that has begun', async () => {
    const { session, run, rows } = await told('nested')
    const seq = startOf(rows, 'inner/two@1')
    const patch = [{ op: 'replace', path: '/trail', value: ['mine'] }] as const
    const made = await changed(session, { field: 'state', run, seq, patch })
    expect(made.called).toEqual(['two undefined', 'close'])
    const { state } = await json<{ state: { trail: string[] } }>(`/sessions/${made.fork.id}/state`)
    expect(state.trail).toEqual(['mine', 'mine', 'two'])
  })

  test('a key that the graph does not have is changed in the log, and the graph goes on', async () => {
    const { session, run, rows } = await told('sent')
    const patch = [{ op: 'add', path: '/note', value: 'mine' }] as const
    const ended = rows.findLast(({ event }) => event.kind === 'node.finished' && event.node.startsWith('worker'))
    const made = await changed(session, { field: 'state', run, seq: ended?.seq ?? 0, patch })
    expect(made).toMatchObject({ called: ['close'], outcome: 'done' })
    const { state } = await json<{ state: object }>(`/sessions/${made.fork.id}/state`)
    expect(state).toMatchObject({ note: 'mine' })
  })

  test('a run that began with an answer goes on with it and with the changed state', async () => {
    const { session, rows: asking } = await told('asked')
    const question = eventsOf(asking).find(({ kind }) => kind === 'interrupt')
    const id = question?.kind === 'interrupt' ? question.id : ''
    const resume = [{ interrupt: id, status: 'resolved', payload: 'yes' }]
    const { run } = await json<{ run: string }>(`/sessions/${session}/runs`, {
      agent: 'asked',
      input: { messages: [], resume },
    })
    await server.engine.wait(session, run)
    const rows = (await rowsOf(session)).filter((row) => row.run === run)
    expect(lastText(rows)).toBe('undefined: plan,yes')
    const until = rows.findIndex(({ event }) => event.kind === 'node.finished' && event.node.startsWith('ask'))
    for (const { seq } of rows.slice(0, until)) {
      const made = await changed(session, {
        field: 'state',
        run,
        seq,
        patch: [{ op: 'add', path: '/tone', value: 'kind' }],
      })
      expect({ seq, outcome: made.outcome, called: made.called, said: lastText(made.rows) }).toEqual({
        seq,
        outcome: 'done',
        called: ['answer yes'],
        said: 'kind: plan,yes',
      })
    }
  })

  test('what cannot be changed is refused with one sentence, before and at the click', async () => {
    const patch = [{ op: 'add', path: '/tone', value: 'kind' }] as const
    const remote = await told('far')
    expect(await refused(remote.session, { field: 'state', run: remote.run, seq: 1, patch })).toBe(
      '409 the agent far runs on another server, which keeps its own history; change the message instead',
    )
    const fires = await told('fires')
    const end = fires.rows.at(-1)?.seq ?? 0
    expect(await refused(fires.session, { field: 'state', run: fires.run, seq: end, patch })).toMatch(
      /^409 the run has ended here/,
    )
    expect(await refused(fires.session, { field: 'tool', run: fires.run, call: 'no', result: {} })).toBe(
      '404 the run has no tool call no',
    )
    expect(await refused(fires.session, { field: 'message', run: 'no', text: 'x' })).toBe(
      '404 this session has no run no',
    )
    const lines = (await exported(fires.session)).replaceAll('"agent":"fires"', '"agent":"gone"')
    const gone = await fetch(`${address}/sessions/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: lines,
    })
    const { id } = (await gone.json()) as SessionInfo
    expect(await refused(id, { field: 'message', run: fires.run, text: 'x' })).toBe(
      '409 the server has no agent gone, so this run cannot go on here',
    )
    const sessions = async () => (await log.list({})).total
    const before = await sessions()
    await refused(fires.session, { field: 'tool', run: fires.run, call: 'no', result: {} })
    expect(await sessions()).toBe(before)
  })

  test('a checkpoint that this server did not write is none to go on from', async () => {
    const { session, run, rows } = await told('graph')
    const forged = (await exported(session)).replace(/"code":"[^"]+"/g, '"code":"AAAA"')
    const made = await fetch(`${address}/sessions/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: forged,
    })
    const { id } = (await made.json()) as SessionInfo
    const change: Change = { field: 'tool', run, call: callOf(rows, 'measure'), result: { acres: 7 } }
    expect(await refused(id, change)).toMatch(/^409 this server did not write the checkpoint of this run/)
  })
})
