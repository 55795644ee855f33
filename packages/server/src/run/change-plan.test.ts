import type { Change, Recorded, RunEvent, RunInput } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { type ChangedRun, planChange } from './change-plan.ts'

const hello: RunInput = {
  messages: [
    { id: 'u', role: 'user', content: { role: 'user', parts: [{ inlineData: { data: 'x' } }, { text: 'hi' }] } },
  ],
}
const said = (id: string, node: string, parts: readonly object[], partial = false): RunEvent =>
  ({
    kind: 'agent',
    message: id,
    node,
    event: { id, author: 'a', invocationId: 'r', timestamp: 1, partial, content: { role: 'model', parts } },
  }) as unknown as RunEvent
const answer = (id: string, node: string, call: string): RunEvent =>
  said(id, node, [{ functionResponse: { id: call, name: 'look', response: { acres: 1 } } }])
const asked = (call: string, node: string, request?: object): RunEvent =>
  ({ kind: 'model.started', call, agent: 'a', model: 'm', tools: 0, node, request }) as RunEvent
const heard = (call: string, node: string): RunEvent => ({ kind: 'model.finished', call, status: 'ok', node })
const open = (node: string, call?: string): RunEvent =>
  ({ kind: 'node.started', node, agent: 'a', ...(call === undefined ? {} : { call }) }) as RunEvent
const close = (node: string): RunEvent => ({ kind: 'node.finished', node, status: 'ok' })
const checkpoint: RunEvent = { kind: 'log', level: 'debug', message: 'checkpoint' }
const done: RunEvent = { kind: 'run.finished', outcome: 'done' }

const rowsOf = (events: readonly RunEvent[], input = hello): readonly Recorded[] =>
  [{ kind: 'run.started', agent: 'g', input } as const, ...events].map((event, i) => ({
    seq: 10 + i,
    at: 100 + i,
    run: 'r',
    event,
  }))

const isCheckpoint = ({ event }: Recorded): boolean => event.kind === 'log' && event.message === 'checkpoint'
const adk = (events: readonly RunEvent[], more: Partial<ChangedRun> = {}): ChangedRun => ({
  session: 's',
  rows: rowsOf(events),
  about: { name: 'g', engine: 'adk', capabilities: { runsOn: true, changedPrompts: true } },
  prompts: true,
  sealed: (rows) => rows.findLast(isCheckpoint)?.seq,
  hasRecord: (rows) => rows.some(isCheckpoint),
  isRecord: (event) => event.kind === 'log' && event.message === 'checkpoint',
  isLeftOut: (event) => event.kind === 'log' && event.message === 'left out',
  by: 'ada',
  ...more,
})
const graph = (events: readonly RunEvent[], more: Partial<ChangedRun> = {}): ChangedRun => {
  const own = adk(events, more)
  return { ...own, about: { ...own.about, engine: 'langgraph', redoesNodes: true, checkpoints: 'log', ...more.about } }
}
const tool: Change = { field: 'tool', run: 'r', call: 'f', result: { acres: 7 } }
const state = (seq: number): Change => ({ field: 'state', run: 'r', seq, patch: [{ op: 'add', path: '/x', value: 1 }] })
const prompt = (call: string): Change => ({ field: 'prompt', run: 'r', call, system: 'x' })
const kindsOf = (plan: ReturnType<typeof planChange>): readonly string[] =>
  'rows' in plan ? plan.rows.map(({ event }) => event.kind) : []

const talk = [
  open('a@1'),
  asked('c1', 'a@1', { contents: [] }),
  said('m1', 'a@1', [{ functionCall: { id: 'f', name: 'look', args: {} } }]),
  heard('c1', 'a@1'),
  answer('m2', 'a@1', 'f'),
  asked('c2', 'a@1', { contents: [], omitted: 'too large' }),
  said('m3', 'a@1', [{ text: 'o' }], true),
  heard('c2', 'a@1'),
  close('a@1'),
  done,
]

describe('what is reused of a run', () => {
  test('the rows up to a result, with another result', () => {
    const plan = planChange(adk(talk), tool)
    expect(plan).toMatchObject({
      seq: 15,
      reused: { modelCalls: 1, toolCalls: 0 },
      again: { modelCalls: 1, toolCalls: 0 },
      changed: { field: 'tool', by: 'ada', of: { session: 's', run: 'r', seq: 15 }, before: { acres: 1 } },
    })
    expect(kindsOf(plan).slice(-3)).toEqual(['agent', 'superseded', 'changed'])
    expect(JSON.stringify(plan)).toContain('"response":{"acres":7}')
    expect(JSON.stringify(plan)).not.toContain('"response":{"acres":1}')
  })

  test('half a message and an open node are void, and a changed state follows the change', () => {
    const plan = planChange(adk(talk), state(17))
    expect(kindsOf(plan).slice(-3)).toEqual(['superseded', 'changed', 'state'])
    expect('rows' in plan && plan.rows.at(-3)?.event).toEqual({ kind: 'superseded', messages: ['m3'], nodes: ['a@1'] })
    expect(plan.reused).toEqual({ modelCalls: 1, toolCalls: 1 })
  })

  test('SPEC 4.10: a call that had ended at the changed moment goes along with its last records', () => {
    const [start, request, ...rest] = talk
    const ended: RunEvent = { kind: 'model.finished', call: 'c1', status: 'ok', node: 'a@1', messages: ['m1'] }
    const ran = (call: string): RunEvent => ({
      kind: 'tool.finished',
      call,
      name: 'look',
      status: 'ok',
      duration: 1,
      node: 'a@1',
    })
    const events = [start, request, rest[0], ended, ran('f'), ran('g'), ...rest.slice(2)].filter(
      (each) => each !== undefined,
    )
    // Right after the message, and after the first of two tools.
    expect(planChange(adk(events), state(13))).toMatchObject({ seq: 14, reused: { modelCalls: 1, toolCalls: 0 } })
    expect(planChange(adk(events), state(15))).toMatchObject({ seq: 17, reused: { modelCalls: 1, toolCalls: 1 } })
    expect(planChange(adk(events), state(14))).toMatchObject({ seq: 14 })
  })

  test('a request is sent again from before its call', () => {
    const plan = planChange(adk(talk), prompt('c1'))
    expect(plan).toMatchObject({
      seq: 11,
      reused: { modelCalls: 0, toolCalls: 0 },
      again: { modelCalls: 2, toolCalls: 1 },
    })
    expect(plan.changed).toMatchObject({ agent: 'a', node: 'a@1', call: 'c1', after: { system: 'x' } })
  })

  test('a specialist that has ended is not consulted again, although its answer is still to come', () => {
    const events = [open('a@1'), open('a/b@1', 'f'), close('a/b@1'), open('a/c@1', 'g'), close('a/c@1'), done]
    expect(planChange(adk(events), state(13)).reused.toolCalls).toBe(1)
  })

  test('a message keeps its files', () => {
    const plan = planChange(adk(talk), { field: 'message', run: 'r', text: 'bye' })
    expect('input' in plan && plan.input.messages[0]?.content.parts).toEqual([
      { inlineData: { data: 'x' } },
      { text: 'bye' },
    ])
    expect(plan).toMatchObject({
      seq: 9,
      changed: { before: 'hi', after: 'bye' },
      again: { modelCalls: 2, toolCalls: 1 },
    })
  })

  test('of a graph, what steps that have ended did; the step of a request runs from its start', () => {
    const events = [
      checkpoint,
      open('think@1'),
      asked('c1', 'think@1', { contents: [] }),
      heard('c1', 'think@1'),
      close('think@1'),
      checkpoint,
      open('tools@1'),
      answer('m', 'tools@1', 'f'),
      close('tools@1'),
      checkpoint,
      open('think@2'),
      asked('c2', 'think@2', { contents: [] }),
      heard('c2', 'think@2'),
      asked('c3', 'think@2', { contents: [] }),
      heard('c3', 'think@2'),
      close('think@2'),
      done,
    ]
    const result = planChange(graph(events), tool)
    expect(result).toMatchObject({ seq: 20, reused: { modelCalls: 1, toolCalls: 0 }, again: { modelCalls: 2 } })
    const last = planChange(graph(events), prompt('c3'))
    expect(last).toMatchObject({ seq: 20, reused: { modelCalls: 1, toolCalls: 1 }, changed: { after: { earlier: 1 } } })
    expect(planChange(graph(events), state(23)).reused).toEqual({ modelCalls: 1, toolCalls: 1 })
    expect(planChange(graph(events.slice(0, 9)), tool).seq).toBe(19)
    // The end of a step and its checkpoint belong together, unless another step is open.
    expect(planChange(graph(events), state(19)).seq).toBe(20)
    expect(planChange(graph([open('left@1'), ...events]), state(20)).seq).toBe(20)
  })
})

describe('what cannot be changed says why', () => {
  const why = (of: ChangedRun, change: Change): string => {
    try {
      planChange(of, change)
      return 'it can'
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
  }
  const steps = [open('tools@1'), answer('m', 'tools@1', 'f'), close('tools@1'), done]

  test.each([
    ['an unknown run', adk([], { rows: [] }), tool, 'this session has no run r'],
    ['an unknown call', adk(talk), prompt('c9'), 'the run has no model call c9'],
    ['a call without a result', adk(talk.slice(0, 3)), tool, 'the agent has got no result of this call'],
    ['a request that is not whole', adk(talk), prompt('c2'), 'the request of this model call was not recorded'],
    ['a server without prompts', adk(talk, { prompts: false }), prompt('c1'), 'does not record the requests of g'],
    ['a row of another run', adk(talk), state(99), 'the run has no row 99; it has the rows 10 to 20'],
    ['the end of a run', adk(talk), state(20), 'the run has ended here'],
    [
      'a model of another library',
      adk(talk, { about: { name: 'g', engine: 'langgraph', capabilities: { runsOn: true } } }),
      prompt('c1'),
      'the models of g are not called through Millrace',
    ],
    [
      'an agent that does not load',
      adk(talk, { about: { name: 'g', engine: 'broken', error: 'no such file' } }),
      tool,
      'the agent g cannot run now: no such file',
    ],
    [
      'another engine',
      adk(talk, { about: { name: 'g', engine: 'own' } }),
      tool,
      'is of the engine own, which starts every run at its beginning',
    ],
    [
      'a run that answered a question',
      adk(talk, { rows: rowsOf(talk, { messages: [] }) }),
      { field: 'message', run: 'r', text: 'x' },
      'this run began with an answer to a question',
    ],
    ['a step that did not end', graph(steps.slice(0, 2)), tool, 'the step of the graph that ran this tool did not end'],
    [
      'a tool of an inner graph',
      graph([open('in@1'), open('in/tools@1'), answer('m', 'in/tools@1', 'f'), close('in/tools@1')]),
      tool,
      'this tool ran in a graph inside another',
    ],
    ['a request outside any step', graph([asked('c1', 'x@1', { contents: [] })]), prompt('c1'), 'belongs to no step'],
    ['a graph without checkpoints', graph(steps), tool, 'has no checkpoint of its steps; change the message instead'],
    [
      'a step whose state was too large',
      graph([checkpoint, ...steps.slice(0, 3), { kind: 'log', level: 'debug', message: 'left out' }, done]),
      tool,
      'was too large to be recorded after this step',
    ],
    [
      'a checkpoint of another server',
      graph([...steps.slice(0, 3), checkpoint], { sealed: () => undefined }),
      tool,
      'this server did not write the checkpoint',
    ],
    [
      'a store of the author',
      graph(steps, {
        about: {
          name: 'g',
          engine: 'langgraph',
          capabilities: { runsOn: true },
          redoesNodes: true,
          checkpoints: 'own',
          checkpointer: 'SqliteSaver',
        },
      }),
      tool,
      'keeps its checkpoints in its own SqliteSaver',
    ],
    [
      'a run that is too long',
      adk(Array.from({ length: 20_001 }, () => checkpoint)),
      state(20_011),
      'at most 20000 can be reused',
    ],
  ] as const)('%s', (_name, of, change, sentence) => {
    expect(why(of, change)).toContain(sentence)
  })
})
