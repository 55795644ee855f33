import { MillraceError, type RunEvent } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { runContext } from '../../../../../test/kit/run-context.ts'
import type { RunContext } from '../agent.ts'
import { ChildRun } from './child-run.ts'
import { functionNames } from './context-functions.ts'
import { ProcessRun } from './process-run.ts'
import { type FromProcess, printSent, readSentText, type ToProcess } from './protocol.ts'

// Both ends of a run, with a channel between them that carries JSON and takes a turn of the event loop, as a pipe does.

type Script = (context: RunContext & Record<string, never>) => AsyncIterable<unknown>

function isolated(script: Script, more: object = {}) {
  const stop = new AbortController()
  const sent: FromProcess[] = []
  const context = runContext({ signal: stop.signal, now: () => 0, ...more })
  const toHost = (message: FromProcess): void => {
    const text = printSent(message)
    sent.push(readSentText(text))
    setImmediate(() => {
      const got = readSentText(text)
      if (got.kind === 'end') run.end(got.problem)
      else run.take(got)
      if (got.kind === 'events' && got.last === true) run.end()
    })
  }
  const child = new ChildRun(1, { send: toHost, sendSoon: toHost, atEndOfTurn: setImmediate })
  const run = new ProcessRun(1, context, (message: ToProcess) => {
    const text = JSON.stringify(message)
    setImmediate(() => child.take(JSON.parse(text)))
  })
  const { signal, now, newId, history, ...data } = context
  const agent = {
    name: 'a',
    describe: () => Promise.reject(new Error('not described here')),
    run: (_: unknown, inner: RunContext) => script(inner as never) as AsyncIterable<RunEvent>,
  }
  const start = {
    kind: 'run',
    call: 1,
    input: { messages: [] },
    context: data,
    history: { after: 0, rows: [], forget: [] },
    functions: functionNames(data),
  } as const
  const driven = child.drive(agent, start, { history, now, newId })
  return { run, sent, stop, driven }
}

const partial = (text: string) => ({
  kind: 'agent',
  message: 'm',
  event: { partial: true, content: { parts: [{ text }] } },
})
const note = (message: string) => ({ kind: 'log', level: 'info', message })
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve))
}
async function all(run: AsyncIterable<RunEvent>): Promise<readonly unknown[]> {
  const events: unknown[] = []
  for await (const event of run) events.push(event)
  return events
}

describe('a run in the process of its agent', () => {
  test('all events arrive in order, and the agent waits for a server that does not read', async () => {
    let yielded = 0
    const { run } = isolated(async function* () {
      for (; yielded < 5000; yielded += 1) yield partial(String(yielded))
    })
    await turns(50)
    expect(yielded).toBe(255)
    const events = await all(run)
    expect(events).toEqual(Array.from({ length: 5000 }, (_, i) => partial(String(i))))
  })

  test('partial events of one turn are one message; a whole event goes before the agent goes on', async () => {
    let before = 0
    const { run, sent } = isolated(async function* () {
      for (let i = 0; i < 20; i += 1) yield partial('x')
      yield note('whole')
      before = sent.length
      yield partial('y')
    })
    expect(await all(run)).toHaveLength(22)
    expect(before).toBe(1)
    expect(sent).toMatchObject([
      { events: { length: 21 }, last: false },
      { events: { length: 1 }, last: true },
    ])
  })

  test('what only says something goes with the end of the run; what may last for ever goes at once', async () => {
    const whole = (part: object, more: object = {}) => ({
      kind: 'agent',
      message: 'm',
      event: { content: { parts: [part] }, ...more },
    })
    const started = (agent: string, more: object = {}) => ({ kind: 'node.started', node: `${agent}@1`, agent, ...more })
    const talk = isolated(async function* () {
      yield started('a')
      yield partial('x')
      yield whole({ text: 'x', thought: true })
      yield { kind: 'node.finished', node: 'a@1', status: 'ok' }
    })
    expect(await all(talk.run)).toHaveLength(4)
    expect(talk.sent).toMatchObject([{ events: { length: 4 }, last: true }])
    const lasting = [
      started('b'),
      started('a', { parent: 'b@1' }),
      whole({ functionCall: { name: 'f' } }),
      whole({ functionResponse: { name: 'f' } }),
      whole({ text: 'x' }, { longRunningToolIds: ['c'] }),
      { ...whole({}), event: {} },
    ]
    for (const event of lasting) {
      const { run, sent } = isolated(async function* () {
        yield event
        yield partial('y')
      })
      await all(run)
      expect(sent).toMatchObject([{ events: [event], last: false }, { last: true }])
    }
  })

  test('the end of a run goes with its last event; an end without events goes alone', async () => {
    const finished = { kind: 'run.finished', outcome: 'done' }
    const ended = isolated(async function* () {
      yield note('whole')
      yield finished
    })
    expect(await all(ended.run)).toEqual([note('whole'), finished])
    expect(ended.sent).toMatchObject([{ events: [note('whole')] }, { events: [finished], last: true }])
    const quiet = isolated(async function* () {
      yield note('whole')
    })
    expect(await all(quiet.run)).toEqual([note('whole')])
    expect(quiet.sent).toMatchObject([{ events: [note('whole')], last: false }, { kind: 'end' }])
  })

  test('what the agent throws keeps its code and its message, after the events before it', async () => {
    const { run } = isolated(async function* () {
      yield note('before')
      throw new MillraceError('model-error', 'the model is away')
    })
    expect(await run.next()).toMatchObject({ value: note('before') })
    await expect(run.next()).rejects.toMatchObject({ code: 'model-error', message: 'the model is away' })
  })

  test('an event that is not JSON fails the run as garbage', async () => {
    const circle: Record<string, unknown> = partial('x')
    circle.self = circle
    const { run } = isolated(async function* () {
      yield circle
    })
    await expect(all(run)).rejects.toMatchObject({ code: 'garbage', message: expect.stringContaining('not JSON') })
  })

  test('an abort reaches the agent with its reason, and the run ends when the agent does', async () => {
    let reason: unknown
    const { run, stop } = isolated(async function* ({ signal }) {
      yield note('waiting')
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      reason = signal.reason
    })
    await run.next()
    stop.abort(new MillraceError('timeout', 'the run took too long'))
    expect(await run.next()).toEqual({ done: true, value: undefined })
    expect(reason).toMatchObject({ code: 'timeout', message: 'the run took too long' })
  })

  test('a reader that leaves stops the agent', async () => {
    let cleaned = false
    const { run, driven } = isolated(async function* () {
      try {
        for (;;) yield partial('x')
      } finally {
        cleaned = true
      }
    })
    await run.next()
    await run.return()
    await driven
    expect(cleaned).toBe(true)
  })

  test('functions of the context are called in the server', async () => {
    const memory = {
      search: async (text: string) => [`found ${text}`],
      fail: () => Promise.reject(new MillraceError('not-found', 'no memory')),
    }
    const { run } = isolated(
      async function* (context) {
        const given = context as unknown as { memory: typeof memory }
        yield note(String(await given.memory.search('ada')))
        await given.memory.fail()
      },
      { memory },
    )
    expect(await run.next()).toMatchObject({ value: note('found ada') })
    await expect(run.next()).rejects.toMatchObject({ code: 'not-found', message: 'no memory' })
  })
})
