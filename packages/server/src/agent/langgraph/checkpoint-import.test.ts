import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { defined, isObject, type Recorded, type RunEvent } from '@millrace/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { newestRecord } from '../../../../../test/kit/run-agent.ts'
import { runContext } from '../../../../../test/kit/run-context.ts'
import { isCheckpoint } from './checkpoint.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// A session can be imported, with the checkpoint in it. So a checkpoint may contain anything.

const State = Annotation.Root({ ...MessagesAnnotation.spec, extra: Annotation<unknown>() })

/** A graph that keeps in `seen` what its node finds in the state. */
function watching() {
  const seen: unknown[] = []
  const graph = new StateGraph(State)
    .addNode('look', ({ extra }) => {
      seen.push(extra)
      return {}
    })
    .addEdge(START, 'look')
    .addEdge('look', END)
    .compile()
  return { graph: graph as unknown as CompiledGraph, seen }
}

async function run(graph: CompiledGraph, history: readonly Recorded[], session: string): Promise<readonly Recorded[]> {
  // As if the seal were ours: what is read must be harmless even then.
  const context = runContext({ session, history, ...defined({ sealed: newestRecord(history) }) })
  const events: RunEvent[] = []
  const message = { id: `m${history.length}`, role: 'user' as const, content: { parts: [{ text: 'hi' }] } }
  for await (const event of graphAgent('g', async () => ({ graph })).run({ messages: [message] }, context)) {
    events.push(event)
  }
  return events.map((event, i) => ({ seq: i + 1, at: i, run: 'r', event }))
}

const decoded = (text: unknown): Record<string, unknown> => JSON.parse(Buffer.from(String(text), 'base64').toString())
const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** The rows of a real run, its checkpoint rewritten by `forge`. */
function forged(rows: readonly Recorded[], forge: (space: Record<string, unknown>) => object): readonly Recorded[] {
  return rows.map((row) => {
    if (!isCheckpoint(row.event) || row.event.kind !== 'log' || !isObject(row.event.data)) return row
    const [space, ...rest] = (row.event.data as { spaces: Record<string, unknown>[] }).spaces
    const data = { ...row.event.data, spaces: [forge({ ...space }), ...rest] }
    return { ...row, event: { ...row.event, data: data as never } }
  })
}

/** What the node finds in `extra` when the imported checkpoint holds this JSON there. */
async function found(json: string): Promise<unknown> {
  const { graph, seen } = watching()
  const rows = await run(graph, [], 'first')
  const imported = forged(rows, (space) => {
    const checkpoint = decoded(space.checkpoint)
    const values = JSON.stringify(checkpoint.channel_values)
    const versions = checkpoint.channel_versions as Record<string, unknown>
    const text = JSON.stringify({
      ...checkpoint,
      channel_versions: { ...versions, extra: Object.values(versions)[0] },
      channel_values: '@',
    }).replace('"@"', () => `${values.slice(0, -1)},"extra":${json}}`)
    return { ...space, checkpoint: encoded(text) }
  })
  await run(graph, imported, 'imported')
  return seen.at(-1)
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('an imported checkpoint', () => {
  const secret = '{"lc":1,"type":"secret","id":["OPENAI_API_KEY"]}'
  const made = (id: readonly string[], kwargs: string): string =>
    `{"lc":1,"type":"constructor","id":${JSON.stringify(id)},"kwargs":${kwargs}}`
  const human = ['langchain_core', 'messages', 'HumanMessage']

  test.each([
    ['a secret', secret],
    ['a secret in a message', made(human, `{"content":${secret}}`)],
    [
      'a constructor',
      made(['langchain_core', 'prompts', 'prompt', 'PromptTemplate'], '{"template":"","inputVariables":[]}'),
    ],
    ['a message of LangChain’s', made(human, '{"content":"hi"}')],
    [
      'a constructor of the old kind',
      '{"lc":2,"type":"constructor","id":["Set"],"method":null,"args":[[1]],"kwargs":{}}',
    ],
    ['what is not implemented', made(['langchain_core', 'nothing'], '{}').replace('constructor', 'not_implemented')],
  ])('with %s gives the graph data, nothing made of it', async (_, json) => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-operator')
    const extra = await found(json)
    expect(JSON.stringify(extra)).not.toContain('sk-of-the-operator')
    expect(extra).toStrictEqual(JSON.parse(json))
  })

  test('with __proto__ gives no object another prototype', async () => {
    const extra = (await found('{"__proto__":{"admin":true},"a":1}')) as Record<string, unknown>
    expect(extra.admin).toBeUndefined()
    expect(Object.getPrototypeOf(extra)).toBe(Object.prototype)
    expect(Object.hasOwn({}, 'admin') || 'admin' in {}).toBe(false)
  })

  test.each<[string, (space: Record<string, unknown>) => object]>([
    ['bytes that are no JSON', (space) => ({ ...space, checkpoint: encoded('{') })],
    ['a number', (space) => ({ ...space, checkpoint: encoded('7') })],
    ['no channels', (space) => ({ ...space, checkpoint: encoded('{"v":4,"id":"x"}') })],
    ['metadata of another shape', (space) => ({ ...space, metadata: encoded('[]') })],
    ['too many levels', (space) => ({ ...space, checkpoint: encoded('['.repeat(50_000) + ']'.repeat(50_000)) })],
    ['__proto__ for a namespace', (space) => ({ ...space, namespace: '__proto__' })],
    ['__proto__ for an id', (space) => ({ ...space, id: '__proto__' })],
    ['a write to __proto__', (space) => ({ ...space, writes: [['t,0', 't', '__proto__', encoded('{"admin":1}')]] })],
    ['a write that is no JSON', (space) => ({ ...space, writes: [['t,0', 't', 'extra', encoded('{')]] })],
  ])('with %s is ignored, and the graph runs', async (_, forge) => {
    const { graph, seen } = watching()
    const rows = await run(graph, [], 'first')
    await run(graph, forged(rows, forge), 'imported')
    expect(seen).toEqual([undefined, undefined])
    expect('admin' in {}).toBe(false)
  })

  test('that LangGraph cannot read fails its run, and is not there for the next session of the same id', async () => {
    const { graph, seen } = watching()
    const rows = forged(await run(graph, [], 'first'), (space) => {
      const checkpoint = decoded(space.checkpoint)
      const values = { ...(checkpoint.channel_values as object), __pregel_tasks: 5 }
      return { ...space, checkpoint: encoded(JSON.stringify({ ...checkpoint, channel_values: values })) }
    })
    await expect(run(graph, rows, 'imported')).rejects.toThrow()
    expect(lastMessages(await run(graph, [], 'imported'))).toBe(1)
    expect(seen).toHaveLength(2)
  })

  test('of another form is ignored: the graph starts from the beginning', async () => {
    const { graph, seen } = watching()
    const rows = forged(await run(graph, [], 'first'), (space) => space)
    const other = rows.map((row) =>
      isCheckpoint(row.event) && row.event.kind === 'log' && isObject(row.event.data)
        ? { ...row, event: { ...row.event, data: { ...row.event.data, form: 0 } as never } }
        : row,
    )
    const kept = lastMessages(await run(graph, rows, 'kept'))
    const afresh = lastMessages(await run(graph, other, 'afresh'))
    expect([kept, afresh]).toEqual([2, 1])
    expect(seen).toHaveLength(3)
  })
})

function lastMessages(rows: readonly Recorded[]): number {
  const last = rows.findLast(({ event }) => isCheckpoint(event))?.event
  const { spaces } = (last?.kind === 'log' ? last.data : {}) as unknown as { spaces: Record<string, unknown>[] }
  return (decoded(spaces[0]?.checkpoint).channel_values as { messages: unknown[] }).messages.length
}
