import {
  Annotation,
  BaseCheckpointSaver,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import type { RunEvent } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { outline, testSession } from '../../../../../test/kit/run-agent.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'
import { hasBegunIn, threadMessage } from './own-saver.ts'

// A graph whose author chose where its checkpoints are: that store is used as it is, under the session's id.

/** A store of the author's: each call takes a moment, and writes may fail. */
class ShelfSaver extends BaseCheckpointSaver {
  readonly #shelf = new MemorySaver()
  broken = false
  readonly stored: string[] = []

  override async getTuple(...args: Parameters<MemorySaver['getTuple']>) {
    if (this.broken) throw new Error('the shelf is gone')
    return this.#shelf.getTuple(...args)
  }
  override list(...args: Parameters<MemorySaver['list']>) {
    return this.#shelf.list(...args)
  }
  override async put(...args: Parameters<MemorySaver['put']>) {
    await this.#write()
    return this.#shelf.put(...args)
  }
  override async putWrites(...args: Parameters<MemorySaver['putWrites']>) {
    await this.#write()
    await this.#shelf.putWrites(...args)
    this.stored.push(...args[1].map(([channel]) => channel))
  }
  override async deleteThread(thread: string) {
    await this.#shelf.deleteThread(thread)
  }
  async #write() {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
    if (this.broken) throw new Error('the shelf is gone')
  }
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  parts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const asking = (checkpointer: BaseCheckpointSaver, during = () => {}) =>
  new StateGraph(State)
    .addNode('one', () => {
      during()
      return { parts: ['one'] }
    })
    .addNode('ask', () => ({ parts: [interrupt('May I?') as string] }))
    .addEdge(START, 'one')
    .addEdge('one', 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer })
const agentOf = (graph: unknown, resumable = false) =>
  graphAgent('g', async () => ({ graph: graph as CompiledGraph, resumable }))
const messages = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.kind === 'log' ? [event.message] : []))

describe('a graph with a saver of its own', () => {
  test('keeps its checkpoints there: another process with the same store takes the answer', async () => {
    const saver = new ShelfSaver()
    const first = testSession(agentOf(asking(saver)))
    const asked = await first.run('go')
    expect(messages(asked)).toEqual([
      'the graph keeps its checkpoints in its own ShelfSaver, in the thread s1',
      threadMessage,
    ])
    const resume = asked.flatMap((event) =>
      event.kind === 'interrupt' ? [{ interrupt: event.id, status: 'resolved' as const, payload: 'yes' }] : [],
    )
    const second = testSession(agentOf(asking(saver)), 's1', first.rows)
    expect(outline(await second.run({ resume })).filter((line) => line.includes('@'))).toEqual(['> ask@2', '< ask@2'])
    expect(second.state.parts).toEqual(['one', 'yes'])
    expect(messages(second.rows.map(({ event }) => event)).filter((each) => each.includes('ShelfSaver'))).toHaveLength(
      1,
    )
  })

  test('says so when its saver does not have the conversation that the log has', async () => {
    const first = testSession(agentOf(asking(new ShelfSaver())))
    await first.run('go')
    const fork = testSession(agentOf(asking(new ShelfSaver())), 's2', first.rows)
    expect(messages(await fork.run('go'))).toContain(
      "the graph's own ShelfSaver has no checkpoints of this session, so the graph begins without what was said before",
    )
    expect(messages(await fork.run('go')).join()).not.toContain('has no checkpoints')
  })

  test('is described with the name of the saver, before and after a run', async () => {
    const agent = agentOf(asking(new ShelfSaver()))
    expect(await agent.describe()).toMatchObject({ checkpoints: 'own', checkpointer: 'ShelfSaver' })
    await testSession(agent).run('go')
    expect(await agent.describe()).toMatchObject({ checkpoints: 'own', checkpointer: 'ShelfSaver' })
  })

  test('fails when its saver cannot write, and when it cannot read', async () => {
    const saver = new ShelfSaver()
    const session = testSession(
      agentOf(
        asking(saver, () => (saver.broken = true)),
        true,
      ),
    )
    const failed = "the graph's own checkpointer (ShelfSaver) failed: the shelf is gone. Check the database"
    await expect(session.run('go')).rejects.toThrow(failed)
    expect(outline(session.rows.map(({ event }) => event))).not.toContain('> ask@1')
    await expect(session.run('go')).rejects.toThrow(failed)
  })

  test('has a finished node in the log only after its saver has stored what the node wrote', async () => {
    const saver = new ShelfSaver()
    const at: boolean[] = []
    await testSession(agentOf(asking(saver), true)).run('go', {
      onEvent: (event) => {
        if (event.kind === 'node.finished' && event.status === 'ok') at.push(saver.stored.includes('parts'))
      },
    })
    expect(at).toEqual([true])
  })
})

test('after a crash, a run has begun when its saver has a newer checkpoint than the one at its start', () => {
  const event: RunEvent = { kind: 'log', level: 'debug', message: threadMessage, data: { checkpoint: 'c1' } }
  const context = { run: 'r', history: [{ seq: 1, at: 1, run: 'r', event }] } as never
  const at = (id?: string) => ({ config: { configurable: id === undefined ? {} : { checkpoint_id: id } } })
  expect(hasBegunIn(at('c1'), context)).toBe(false)
  expect(hasBegunIn(at('c2'), context)).toBe(true)
  expect(hasBegunIn(at(), { run: 'other', history: [] } as never)).toBe(false)
})
