import type { AdkEvent, AdkPart, Json, PatchOp, Recorded, RunEvent } from '@millrace/core'
import fc from 'fast-check'

/**
 * Random logs for property tests of views and encoders.
 * - `sessions()`: logs as engines write them: runs one after the other, specialists interleaved token by token, each
 *   lane speaking in a letter of its own (`lane 2` says only `c`), so that mixed text is seen at once.
 * - `chaos()`: any event after any other, ids from a small pool so that they collide, and content that no type allows.
 */
export function sessions(): fc.Arbitrary<readonly Recorded[]> {
  return fc
    .array(run(), { minLength: 1, maxLength: 3 })
    .map((runs) =>
      record(runs.flatMap((make, i) => make(`run-${i + 1}`).map((event) => ({ run: `run-${i + 1}`, event })))),
    )
}

export function chaos(): fc.Arbitrary<readonly Recorded[]> {
  const row = fc.record({ run: fc.constantFrom('', 'r1', 'r2'), event: anyEvent() })
  return fc.array(row, { maxLength: 60 }).map(record)
}

function record(drafts: readonly { readonly run: string; readonly event: RunEvent }[]): readonly Recorded[] {
  return drafts.map((draft, i) => ({ seq: 3 + 2 * i, at: 1_700_000_000_000 + 10 * i, ...draft }))
}

/** What one agent does, step by step. */
type Step =
  | { readonly does: 'says'; readonly tokens: readonly number[]; readonly thinks: boolean; readonly ends: boolean }
  | { readonly does: 'calls'; readonly tools: readonly string[]; readonly fails: boolean }
  | { readonly does: 'writes'; readonly key: string; readonly value: Json }
  | { readonly does: 'fails' | 'logs' | 'asks' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('says' as const),
      tokens: fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 5 }),
      thinks: fc.boolean(),
      ends: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('calls' as const),
      tools: fc.array(fc.constantFrom('search', 'lookup'), { minLength: 1, maxLength: 3 }),
      fails: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('writes' as const),
      key: fc.constantFrom('plan', 'draft', 'score'),
      value: fc.oneof(fc.integer({ max: 3 }), fc.constant(null), fc.constant({ nested: [1] })),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ does: 'fails' }, { does: 'logs' }, { does: 'asks' }) },
)

interface Lane {
  readonly agent: string
  readonly letter: string
  readonly branch?: string
  readonly node?: string
}

function run(): fc.Arbitrary<(id: string) => readonly RunEvent[]> {
  return fc
    .record({
      nodes: fc.boolean(),
      root: fc.array(step, { maxLength: 3 }),
      lanes: fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 3 }),
      order: fc.array(fc.nat({ max: 9 }), { maxLength: 80 }),
      transfer: fc.boolean(),
      outcome: fc.constantFrom('done' as const, 'failed' as const, 'cancelled' as const, 'interrupted' as const),
      ends: fc.boolean(),
    })
    .map(({ nodes, root, lanes, order, transfer, outcome, ends }) => (id) => {
      const lead: Lane = { agent: 'lead', letter: 'a', ...(nodes ? { node: 'lead@1' } : {}) }
      const specialists = lanes.map((steps, i) => {
        const agent = `specialist_${i + 1}`
        const lane: Lane = {
          agent,
          letter: 'bcd'[i] ?? 'z',
          branch: `team.${agent}`,
          ...(nodes ? { node: `lead/${agent}@1` } : {}),
        }
        const spoken = steps.flatMap((each, n) => eventsOf(lane, `${id}-${agent}-${n}`, each))
        return nodes ? [started(lane, 'lead@1'), ...spoken, finished(lane)] : spoken
      })
      const spoken = root.flatMap((each, n) => eventsOf(lead, `${id}-lead-${n}`, each))
      return [
        {
          kind: 'run.started',
          agent: 'lead',
          input: {
            messages: [{ id: `${id}-user`, role: 'user', content: { role: 'user', parts: [{ text: 'go' }] } }],
            state: { goal: id },
          },
        },
        ...(nodes ? [started(lead)] : []),
        ...spoken,
        ...(transfer ? [handOver(lead, `${id}-transfer`)] : []),
        ...interleave(specialists, order),
        ...eventsOf(lead, `${id}-lead-end`, { does: 'says', tokens: [1, 1], thinks: false, ends: true }),
        ...(nodes ? [finished(lead)] : []),
        ...(ends ? [{ kind: 'run.finished', outcome } as const] : []),
      ]
    })
}

function eventsOf(lane: Lane, id: string, step: Step): readonly RunEvent[] {
  const on = lane.node === undefined ? {} : { node: lane.node }
  switch (step.does) {
    case 'says': {
      const tokens = step.tokens.map((n) => lane.letter.repeat(n))
      const parts = (text: string): AdkPart[] => [...(step.thinks ? [{ text, thought: true }] : []), { text }]
      const deltas = tokens.flatMap((text, i) =>
        (step.thinks ? [[{ text, thought: true }], [{ text }]] : [[{ text }]]).map((delta, j) =>
          said(lane, id, `${id}.${i}.${j}`, delta, { partial: true }),
        ),
      )
      return step.ends ? [...deltas, said(lane, id, `${id}.end`, parts(tokens.join('')), usage(tokens.length))] : deltas
    }
    case 'calls': {
      const calls = step.tools.map((name, i) => ({ functionCall: { id: `${id}-call-${i}`, name, args: { at: i } } }))
      const answers = step.tools.map((name, i) => ({
        functionResponse: {
          id: `${id}-call-${i}`,
          name,
          response: step.fails ? { error: 'no' } : { result: lane.letter },
        },
      }))
      return [
        said(lane, id, id, [{ functionCall: { name: step.tools[0] ?? '' } }], { partial: true }),
        said(lane, id, `${id}.calls`, calls, usage(1)),
        said(lane, `${id}-answers`, `${id}.answers`, answers),
      ]
    }
    case 'writes':
      return [said(lane, id, id, [], { actions: { stateDelta: { [step.key]: step.value } } })]
    case 'fails':
      return [said(lane, id, id, [], { errorCode: '429', errorMessage: 'too many' })]
    case 'logs':
      return [{ kind: 'log', level: 'info', message: lane.letter, ...on }]
    case 'asks':
      return [{ kind: 'interrupt', id: `${id}-ask`, reason: 'input_required', ...on }]
  }
}

function said(lane: Lane, message: string, id: string, parts: readonly AdkPart[], extra: object = {}): RunEvent {
  const event: AdkEvent = {
    id,
    author: lane.agent,
    invocationId: 'inv',
    timestamp: 1_700_000_000_000,
    ...(lane.branch === undefined ? {} : { branch: lane.branch }),
    ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }),
    ...extra,
  }
  return { kind: 'agent', event, message, ...(lane.node === undefined ? {} : { node: lane.node }) }
}

const usage = (n: number) => ({
  usageMetadata: { promptTokenCount: 10 * n, candidatesTokenCount: n, totalTokenCount: 11 * n },
})
const handOver = (lane: Lane, id: string) => said(lane, id, id, [], { actions: { transferToAgent: 'specialist_1' } })
const finished = ({ node = '' }: Lane): RunEvent => ({ kind: 'node.finished', node, status: 'ok' })
const started = ({ agent, node = '' }: Lane, parent?: string): RunEvent => ({
  kind: 'node.started',
  node,
  agent,
  ...(parent === undefined ? {} : { parent }),
})

/** One queue per lane, taken from in the order that the numbers say. */
function interleave(lanes: readonly (readonly RunEvent[])[], order: readonly number[]): readonly RunEvent[] {
  const queues = lanes.map((lane) => [...lane])
  const taken: RunEvent[] = []
  for (let i = 0; queues.some((queue) => queue.length > 0); i++) {
    const left = queues.filter((queue) => queue.length > 0)
    const event = left[(order[i % Math.max(1, order.length)] ?? 0) % left.length]?.shift()
    if (event !== undefined) taken.push(event)
  }
  return taken
}

const id = fc.constantFrom('', 'a', 'b', '__proto__', 'a@1', 'a/b@1', 'a/b@2')
const text = fc.oneof(fc.string({ maxLength: 5 }), fc.constant('é\u{1f525}\ud83d'))
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
const wrong = fc.oneof(json, fc.constant(undefined), fc.constant([null, 7, 'x', { functionCall: null }]))
/** Records whose fields may be missing. */
const loose = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] })

const part = fc.oneof(
  fc.record({ text, thought: fc.boolean() }),
  fc.record({ functionCall: loose({ id, name: id, args: wrong }) }),
  fc.record({ functionResponse: loose({ id, name: id, response: wrong }) }),
  fc.record({ inlineData: wrong }),
  fc.record({ fileData: loose({ fileUri: text, mimeType: text }) }),
  fc.record({ executableCode: loose({ code: text, language: text }) }),
  fc.record({ codeExecutionResult: loose({ outcome: text, output: text }) }),
  wrong,
)
const adkEvent = fc
  .tuple(
    fc.record({ id, author: fc.oneof(id, fc.constant('user')), invocationId: id, timestamp: fc.integer() }),
    loose({
      partial: fc.boolean(),
      branch: fc.constantFrom('', 'x', 'x.a', 'x.b', 'x.b.c'),
      content: fc.oneof(loose({ role: id, parts: fc.array(part, { maxLength: 4 }) }), wrong),
      actions: fc.oneof(
        loose({ stateDelta: fc.dictionary(id, json), transferToAgent: id, skipSummarization: fc.boolean() }),
        wrong,
      ),
      usageMetadata: fc.oneof(loose({ promptTokenCount: fc.nat(), candidatesTokenCount: fc.nat() }), wrong),
      errorCode: text,
      errorMessage: text,
      longRunningToolIds: fc.oneof(fc.array(id), wrong),
      finishReason: text,
    }),
  )
  .map(([must, may]) => ({ ...must, ...may }))

const path = fc.constantFrom('', '/', '/a', '/a/b', '/a/0', '/a/-', 'a', '/__proto__/x')
const patchOp = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value: json }),
  fc.record({ op: fc.constant('remove'), path }),
  fc.record({ op: fc.constantFrom('move', 'copy'), path, from: path }),
) as fc.Arbitrary<PatchOp>

const kind = <K extends RunEvent['kind']>(name: K, fields: Record<string, fc.Arbitrary<unknown>>, required: string[]) =>
  fc.record({ kind: fc.constant(name), ...fields }, { requiredKeys: ['kind', ...required] as never[] })

function anyEvent(): fc.Arbitrary<RunEvent> {
  const problem = fc.record({ code: fc.constant('agent-error'), message: text })
  const input = fc
    .tuple(
      fc.record({
        messages: fc.array(
          fc.record({
            id,
            role: fc.constantFrom('user', 'system', 'tool', 'assistant'),
            content: loose({ parts: fc.array(part, { maxLength: 3 }) }),
          }),
          { maxLength: 2 },
        ),
      }),
      loose({
        state: fc.dictionary(id, json),
        resume: fc.array(fc.record({ interrupt: id, status: fc.constantFrom('resolved', 'cancelled') }), {
          maxLength: 2,
        }),
      }),
    )
    .map(([must, may]) => ({ ...must, ...may }))
  return fc.oneof(
    kind('run.started', { agent: id, input }, ['agent', 'input']),
    kind('node.started', { node: id, agent: id, parent: id, after: fc.array(id), call: id }, ['node', 'agent']),
    { weight: 6, arbitrary: kind('agent', { event: adkEvent, message: id, node: id, task: id }, ['event', 'message']) },
    kind('state', { patch: fc.array(patchOp, { maxLength: 3 }), node: id }, ['patch']),
    kind('node.finished', { node: id, status: fc.constantFrom('ok', 'error'), error: problem, duration: fc.nat() }, [
      'node',
      'status',
    ]),
    kind(
      'model.started',
      {
        call: id,
        agent: id,
        model: text,
        tools: fc.nat(),
        node: id,
        request: fc.record(
          {
            like: fc.tuple(id, id).map(([run, call]) => `${run}/${call}`),
            keep: fc.nat({ max: 4 }),
            contents: fc.array(
              fc.oneof(
                json,
                id.map((name) => `@${name}`),
                id.map((name) => `#${name}`),
              ),
              { maxLength: 3 },
            ),
            system: id.map((name) => `#${name}`),
            values: fc.dictionary(id, json),
          },
          { requiredKeys: ['contents'] },
        ),
      },
      ['call', 'agent', 'model', 'tools'],
    ),
    kind(
      'model.finished',
      {
        call: id,
        status: fc.constantFrom('ok', 'error'),
        firstToken: fc.nat(),
        duration: fc.nat(),
        usage: fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat() }),
        cost: fc.record({ amount: fc.nat(), currency: fc.constantFrom('USD', 'EUR') }),
        messages: fc.array(id, { maxLength: 2 }),
        error: problem,
        node: id,
      },
      ['call', 'status'],
    ),
    kind(
      'tool.finished',
      { call: id, name: text, status: fc.constantFrom('ok', 'error'), duration: fc.nat(), node: id },
      ['call', 'name', 'status', 'duration'],
    ),
    kind(
      'feedback',
      {
        about: fc.record({ run: id, message: id, call: id, node: id }, { requiredKeys: ['run'] }),
        rating: fc.constantFrom('up', 'down'),
        note: text,
        by: id,
      },
      ['about'],
    ),
    kind(
      'tasks',
      { tasks: fc.array(fc.record({ id, title: text, status: fc.constant('pending'), order: fc.nat() })) },
      ['tasks'],
    ),
    kind(
      'tasks.changed',
      {
        changes: fc.array(
          fc.record(
            {
              task: id,
              title: text,
              description: text,
              status: fc.constantFrom('pending', 'done'),
              order: fc.integer({ min: -1, max: 4 }),
              removed: fc.boolean(),
            },
            { requiredKeys: ['task'] },
          ),
          { maxLength: 4 },
        ),
      },
      ['changes'],
    ),
    kind('task.started', { task: id }, ['task']),
    kind('task.finished', { task: id, status: fc.constantFrom('done', 'failed'), result: text }, [
      'task',
      'status',
      'result',
    ]),
    kind('task.reflected', { task: id, text }, ['task', 'text']),
    kind('artifact', { id, name: text, type: text, version: fc.nat(), part, task: id, deleted: fc.boolean() }, [
      'id',
      'name',
      'type',
      'version',
    ]),
    kind('data', { id, operation: fc.constantFrom('create', 'update', 'delete'), itemType: text, item: json }, [
      'id',
      'operation',
      'itemType',
    ]),
    kind('interrupt', { id, reason: text, message: text, call: id, payload: json, node: id }, ['id', 'reason']),
    kind('resumed', { interrupt: id, status: fc.constantFrom('resolved', 'cancelled'), payload: json }, [
      'interrupt',
      'status',
    ]),
    kind('superseded', { messages: fc.array(id, { maxLength: 3 }), nodes: fc.array(id, { maxLength: 3 }) }, [
      'messages',
      'nodes',
    ]),
    kind(
      'changed',
      {
        field: fc.constantFrom('message', 'state', 'tool', 'prompt'),
        by: text,
        of: fc.record({ session: id, run: id, seq: fc.nat() }),
        agent: text,
        call: id,
        name: text,
        node: id,
        before: json,
        after: json,
      },
      ['field', 'by', 'of', 'after'],
    ),
    kind('log', { level: fc.constantFrom('debug', 'info', 'warn', 'error'), message: text, node: id, data: json }, [
      'level',
      'message',
    ]),
    kind('foreign', { dialect: id, raw: text, reason: text }, ['dialect', 'raw', 'reason']),
    kind(
      'run.finished',
      {
        outcome: fc.constantFrom('done', 'failed', 'cancelled', 'interrupted'),
        error: problem,
        usage: loose({ inputTokens: fc.nat(), outputTokens: fc.nat(), modelCalls: fc.nat() }),
      },
      ['outcome'],
    ),
  ) as fc.Arbitrary<RunEvent>
}
