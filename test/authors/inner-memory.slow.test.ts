import { HumanMessage } from '@langchain/core/messages'
import { Command, MemorySaver } from '@langchain/langgraph'
import type { Recorded } from '@millrace/core'
import { expect, test } from 'vitest'
import { type CompiledGraph, graphAgent } from '../../packages/server/src/agent/langgraph/langgraph-agent.ts'
import { cutEverywhere } from './kit/cut.ts'
import { openQuestions } from './kit/session.ts'
import { graph } from './langgraph/stateful-inner/agent.ts'
import { turns } from './langgraph/turns.ts'

// An inner graph with a memory of its own (`checkpointer: true`), and a crash before it begins its second conversation.

type Stored = Pick<MemorySaver, 'storage' | 'writes'>

/** Keeps what it has stored after each checkpoint: what a crash at that moment would leave. */
class Snapshots extends MemorySaver {
  readonly taken: { readonly namespace: unknown; readonly source: string; readonly stored: Stored }[] = []

  override async put(
    ...[config, checkpoint, metadata]: Parameters<MemorySaver['put']>
  ): ReturnType<MemorySaver['put']> {
    const put = await super.put(config, checkpoint, metadata)
    const stored = structuredClone({ storage: this.storage, writes: this.writes })
    this.taken.push({ namespace: config.configurable?.checkpoint_ns, source: metadata.source, stored })
    return put
  }
}

/** What the graph comes to, and what it asks, from what is stored. */
async function invoked(saver: MemorySaver, input: unknown): Promise<readonly unknown[]> {
  const config = { configurable: { thread_id: 't' }, durability: 'sync' } as const
  const bare = Object.assign(Object.create(graph), { checkpointer: saver }) as typeof graph
  const { messages } = await bare.invoke(input as Parameters<typeof graph.invoke>[0], config)
  const { tasks } = await bare.getState(config)
  const asked = tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value))
  return [...messages.map(({ content }) => content), ...asked]
}

const hello = () => ({ messages: [new HumanMessage('Hello')] })
const asks = ['Hello', 'So far: Ann', 'Hello', 'Visit 2: who is it?']

test('LangGraph itself ends such a call with the answer of the first conversation', async () => {
  const saver = new Snapshots()
  await invoked(saver, hello())
  await invoked(saver, new Command({ resume: 'Ann' }))
  const first = saver.taken.length
  expect(await invoked(saver, hello())).toEqual(asks)
  const ends: unknown[] = []
  for (const { namespace, source, stored } of saver.taken.slice(first)) {
    const left = Object.assign(new MemorySaver(), structuredClone(stored))
    ends.push([namespace, source, await invoked(left, null)])
  }
  expect(ends).toEqual([
    ['', 'input', asks],
    // The inner graph is next. It takes the end of its first conversation for the end of this one, and asks nobody.
    ['', 'loop', ['Hello', 'So far: Ann', 'Hello', 'So far: Ann']],
    ['desk', 'input', asks],
    ['desk', 'loop', asks],
  ])
})

const nodesIn = (rows: readonly Recorded[]): readonly (readonly [string, string | undefined])[] =>
  rows.flatMap(({ event }) => (event.kind === 'node.started' ? [[event.node, event.parent] as const] : []))
test('SPEC 4.6: a run that goes on from there asks again, in nodes that are inside their node', async () => {
  const agent = graphAgent('desk', async () => ({ graph: graph as unknown as CompiledGraph, resumable: true }))
  const third = (turns['stateful-inner'] ?? []).slice(0, 3)
  let cuts = 0
  for await (const { place, whole, resumed } of cutEverywhere(agent, [third])) {
    cuts += 1
    expect(openQuestions(resumed).length, place).toBe(openQuestions(whole).length)
    for (const [node, parent] of nodesIn(resumed)) {
      expect(parent?.split('@')[0], `${place}: ${node}`).toBe(node.startsWith('desk/') ? 'desk' : undefined)
    }
    const paths = nodesIn(whole).map(([node]) => node)
    expect(paths.slice(0, 2)).toEqual(['desk@1', 'desk/ask@1'])
  }
  expect(cuts).toBeGreaterThan(20)
})
