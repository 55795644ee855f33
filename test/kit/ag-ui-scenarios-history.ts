import { expect } from 'vitest'
import { callsIn, lastWords, saidIn, typesOf } from './ag-ui-clients.ts'
import type { AgUiScenario } from './ag-ui-scenario.ts'

/** A call and its result as they come from another thread. */
const foreign = (name: string) => [
  { id: `f1-${name}`, role: 'user', content: 'look up: oak' },
  {
    id: `f2-${name}`,
    role: 'assistant',
    toolCalls: [{ id: `c-${name}`, type: 'function', function: { name: 'look_up', arguments: '{"word":"oak"}' } }],
  },
  { id: `f3-${name}`, role: 'tool', toolCallId: `c-${name}`, content: '{"word":"oak","meaning":"a tree"}' },
  { id: `f4-${name}`, role: 'assistant', content: 'An oak is a tree.' },
]

/** Histories that the client changed or brings, requests that are repeated, connections that end. */
export const historyScenarios: readonly AgUiScenario[] = [
  {
    name: 'regenerate the last answer',
    async run(bench) {
      const client = bench.thread()
      const key = bench.name()
      await bench.ask(client, 'Hello')
      await bench.ask(client, `count: ${key}`)
      expect(lastWords(client)).toBe('Number 1.')
      client.setMessages(client.messages.slice(0, 3))
      await bench.run(client)
      expect(saidIn(client)).toEqual([
        ['user', 'Hello'],
        ['assistant', 'You said Hello.'],
        ['user', `count: ${key}`],
        ['assistant', 'Number 2.'],
      ])
      await bench.ask(client, 'recall')
      expect(lastWords(client)).not.toContain('Number 1.')
      expect(lastWords(client)).toContain('Number 2.')
    },
  },
  {
    name: 'regenerate an earlier answer',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'note: milk')
      await bench.ask(client, 'note: bread')
      client.setMessages(client.messages.slice(0, 1))
      await bench.run(client)
      expect(client.state).toEqual({ notes: ['milk'] })
      expect(client.messages.filter(({ role }) => role === 'user')).toHaveLength(1)
      await bench.ask(client, 'recall')
      expect(lastWords(client)).not.toContain('bread')
    },
  },
  {
    name: 'regenerate with a graph',
    async run(bench) {
      const client = bench.thread('graph')
      await bench.ask(client, 'one')
      await bench.ask(client, 'two')
      client.setMessages(client.messages.slice(0, 3))
      await bench.run(client)
      expect(lastWords(client)).toBe('Heard one, two.')
      await bench.ask(client, 'three')
      expect(lastWords(client)).toBe('Heard one, two, three.')
    },
  },
  {
    name: 'edit a message',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'one')
      await bench.ask(client, 'two')
      client.setMessages(client.messages.slice(0, 2))
      await bench.ask(client, 'three')
      await bench.ask(client, 'recall')
      expect(lastWords(client)).toContain('user=one')
      expect(lastWords(client)).toContain('user=three')
      expect(lastWords(client)).not.toContain('user=two')
    },
  },
  {
    name: 'nothing is lost by an edit: the log has both',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'one')
      await bench.ask(client, 'two')
      client.setMessages(client.messages.slice(0, 2))
      await bench.ask(client, 'three')
      const log = await (await bench.fetch(`/sessions/${client.threadId}/log`)).text()
      for (const text of ['You said two.', 'You said three.']) expect(log).toContain(text)
      const reloaded = bench.thread('desk', { threadId: client.threadId })
      await bench.connect(reloaded)
      expect(saidIn(reloaded)).toEqual(saidIn(client))
    },
  },
  {
    name: 'regenerate while a question is open',
    async run(bench) {
      const client = bench.thread('graph')
      await bench.ask(client, 'one')
      await bench.ask(client, 'publish')
      const back = bench.thread('graph', { threadId: client.threadId })
      back.setMessages(client.messages.slice(0, 1))
      await bench.run(back)
      expect(lastWords(back)).toBe('Heard one.')
    },
  },
  {
    name: 'a new thread with a history of tools from elsewhere',
    async run(bench) {
      const client = bench.thread()
      client.setMessages(foreign(bench.name()))
      const events = await bench.ask(client, 'recall')
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      expect(lastWords(client)).toContain('model=An oak is a tree.')
    },
  },
  {
    name: 'tool messages of another thread in a known thread',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'Hello')
      client.setMessages([...client.messages, ...foreign(bench.name())])
      const events = await bench.ask(client, 'Again')
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      expect(lastWords(client)).toBe('You said Again.')
    },
  },
  {
    name: 'a tool message without its call',
    async run(bench) {
      const client = bench.thread()
      client.setMessages(foreign(bench.name()).slice(2))
      const events = await bench.ask(client, 'Again')
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      expect(lastWords(client)).toBe('You said Again.')
    },
  },
  {
    name: 'the session was deleted: the history of the client is taken',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'look up: oak')
      expect((await bench.fetch(`/sessions/${client.threadId}`, { method: 'DELETE' })).ok).toBe(true)
      await bench.ask(client, 'recall')
      expect(lastWords(client)).toContain('user=look up: oak')
      expect(callsIn(client)).toHaveLength(1)
    },
  },
  {
    name: 'the same request again is the same run',
    async run(bench) {
      const client = bench.thread()
      const runId = `run-${bench.name()}`
      await bench.ask(client, `count: ${bench.name()}`, { runId })
      const again = bench.thread('desk', { threadId: client.threadId })
      again.setMessages(client.messages.slice(0, 1))
      await bench.run(again, { runId })
      expect(lastWords(again)).toBe('Number 1.')
      expect((await bench.session(client)).runs).toBe(1)
    },
  },
  {
    name: 'a new message under a run id that was used',
    async run(bench) {
      const client = bench.thread()
      const runId = `run-${bench.name()}`
      await bench.ask(client, 'one', { runId })
      await bench.ask(client, 'two', { runId })
      expect(lastWords(client)).toBe('You said two.')
    },
  },
  {
    name: 'stop, where a closed connection cancels (`?disconnect=cancel`)',
    async run(bench) {
      const client = bench.thread('desk', { query: '?disconnect=cancel' })
      const key = bench.name()
      const events: string[] = []
      client.addMessage({ id: `user-${key}`, role: 'user', content: `wait: ${key}` })
      await client
        .runAgent(
          {},
          {
            onEvent({ event }) {
              events.push(event.type)
              if (event.type === 'TOOL_CALL_END') client.abortRun()
            },
          },
        )
        .catch(() => undefined)
      expect(await bench.ended(client)).toBe('cancelled')
      await bench.ask(bench.thread(), `open: ${key}`)
      await bench.ask(client, 'Hello')
      expect(lastWords(client)).toBe('You said Hello.')
    },
  },
  {
    name: 'stop, where the run goes on (`?disconnect=continue`), and the page joins it again',
    async run(bench) {
      const client = bench.thread('desk', { query: '?disconnect=continue' })
      const key = bench.name()
      client.addMessage({ id: `user-${key}`, role: 'user', content: `wait: ${key}` })
      await client
        .runAgent(
          {},
          {
            onEvent({ event }) {
              if (event.type === 'TOOL_CALL_END') client.abortRun()
            },
          },
        )
        .catch(() => undefined)
      expect((await bench.session(client)).status).toBe('running')
      await bench.ask(bench.thread(), `open: ${key}`)
      expect(await bench.ended(client)).toBe('done')
      const reloaded = bench.thread('desk', { threadId: client.threadId })
      await bench.connect(reloaded)
      expect(lastWords(reloaded)).toBe('Going on.')
    },
  },
  {
    name: 'the page is reloaded during a run',
    async run(bench) {
      const client = bench.thread()
      const key = bench.name()
      client.addMessage({ id: `user-${key}`, role: 'user', content: `wait: ${key}` })
      let called = (): void => {}
      const waiting = new Promise<void>((resolve) => {
        called = resolve
      })
      const first = client.runAgent(
        {},
        {
          onEvent({ event }) {
            if (event.type === 'TOOL_CALL_END') called()
          },
        },
      )
      await waiting
      const reloaded = bench.thread('desk', { threadId: client.threadId })
      const connected = bench.connect(reloaded)
      await bench.ask(bench.thread(), `open: ${key}`)
      await Promise.all([first, connected])
      expect(lastWords(reloaded)).toBe('Going on.')
      expect(saidIn(reloaded)).toEqual(saidIn(client))
    },
  },
  {
    name: 'connect to a thread that is idle',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'note: milk')
      await bench.ask(client, 'Hello')
      const reloaded = bench.thread('desk', { threadId: client.threadId })
      const events = await bench.connect(reloaded)
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      expect(saidIn(reloaded)).toEqual(saidIn(client))
      expect(reloaded.state).toEqual(client.state)
      await bench.ask(reloaded, 'Again')
      expect(lastWords(reloaded)).toBe('You said Again.')
    },
  },
  {
    name: 'connect to a thread without a run',
    async run(bench) {
      const client = bench.thread()
      expect(await bench.connect(client)).toEqual([])
      await bench.ask(client, 'Hello')
      expect(lastWords(client)).toBe('You said Hello.')
    },
  },
]
