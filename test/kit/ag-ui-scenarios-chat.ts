import { expect } from 'vitest'
import { callsIn, lastWords, saidIn, typesOf } from './ag-ui-clients.ts'
import type { AgUiScenario } from './ag-ui-scenario.ts'

/** Chat, tools of the server, several agents, errors. */
export const chatScenarios: readonly AgUiScenario[] = [
  {
    name: 'a chat of two turns',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'Hello')
      await bench.ask(client, 'Again')
      expect(saidIn(client)).toEqual([
        ['user', 'Hello'],
        ['assistant', 'You said Hello.'],
        ['user', 'Again'],
        ['assistant', 'You said Again.'],
      ])
    },
  },
  {
    name: 'text streams word by word',
    async run(bench) {
      const events = await bench.ask(bench.thread(), 'one two three four')
      expect(typesOf(events).filter((type) => type === 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(2)
      expect(typesOf(events)[0]).toBe('RUN_STARTED')
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
    },
  },
  {
    name: 'reasoning',
    async run(bench) {
      const client = bench.thread()
      const events = await bench.ask(client, 'think')
      expect(typesOf(events)).toContain('REASONING_MESSAGE_CONTENT')
      expect(saidIn(client)).toEqual([
        ['user', 'think'],
        ['reasoning', 'Let me see.'],
        ['assistant', 'It is 42.'],
      ])
    },
  },
  {
    name: 'a second turn after reasoning',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'think')
      await bench.ask(client, 'Hello')
      expect(lastWords(client)).toBe('You said Hello.')
    },
  },
  {
    name: 'a tool of the server',
    async run(bench) {
      const client = bench.thread()
      const events = await bench.ask(client, 'look up: oak')
      expect(typesOf(events)).toEqual(expect.arrayContaining(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_RESULT']))
      expect(callsIn(client)).toMatchObject([{ function: { name: 'look_up', arguments: '{"word":"oak"}' } }])
      expect(client.messages.filter(({ role }) => role === 'tool')).toHaveLength(1)
      expect(lastWords(client)).toContain('the meaning of oak')
    },
  },
  {
    name: 'two tools of the server at once',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'look up: oak elm')
      expect(callsIn(client)).toHaveLength(2)
      const answered = client.messages.flatMap(({ toolCallId }) => toolCallId ?? [])
      expect([...answered].sort()).toEqual(
        callsIn(client)
          .map(({ id }) => id)
          .sort(),
      )
    },
  },
  {
    name: 'a tool that throws',
    async run(bench) {
      const client = bench.thread()
      const events = await bench.ask(client, 'break down')
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      expect(String(client.messages.find(({ role }) => role === 'tool')?.content)).toContain('the tool broke down')
    },
  },
  {
    name: 'a failure of the model, and the thread goes on',
    async run(bench) {
      const client = bench.thread()
      const events = await bench.ask(client, 'fail')
      expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('overloaded') })
      await bench.ask(client, 'Hello')
      expect(lastWords(client)).toBe('You said Hello.')
    },
  },
  {
    name: 'an unknown agent is an error with a reason',
    async run(bench) {
      await expect(bench.ask(bench.thread('nobody-here'), 'Hello')).rejects.toThrow(/404|unknown agent/)
    },
  },
  {
    name: 'context and a system message reach the model',
    async run(bench) {
      const client = bench.thread()
      client.addMessage({ id: `system-${bench.name()}`, role: 'system', content: 'Be brief.' })
      await bench.ask(client, 'instruction', { context: [{ description: 'Page', value: 'the map' }] })
      expect(lastWords(client)).toContain('Be brief.')
      expect(lastWords(client)).toContain('Page: the map')
    },
  },
  {
    name: 'a file in a message',
    async run(bench) {
      const client = bench.thread()
      const { isCurrent } = bench.line
      const data = { value: 'aGk=', mimeType: 'image/png' }
      const file = isCurrent
        ? { type: 'image', source: { type: 'data', ...data } }
        : { type: 'binary', mimeType: data.mimeType, data: data.value }
      await bench.ask(client, [{ type: 'text', text: 'Look' }, file])
      expect(lastWords(client)).toBe('You said Look.')
      const again = bench.thread('desk', { threadId: client.threadId })
      await bench.connect(again)
      expect(again.messages[0]?.content).toMatchObject([{ type: 'text', text: 'Look' }, file])
      return isCurrent ? undefined : 'binary'
    },
  },
  {
    name: 'agents side by side',
    async run(bench) {
      const client = bench.thread('team')
      const events = await bench.ask(client, 'Search')
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      expect(new Set(client.messages.map(({ id }) => id)).size).toBe(client.messages.length)
      expect(saidIn(client)).toEqual(
        expect.arrayContaining([
          ['reasoning', 'Look left.'],
          ['assistant', 'Found on the left.'],
          ['reasoning', 'Look right.'],
          ['assistant', 'Found on the right.'],
        ]),
      )
      expect(callsIn(client)).toHaveLength(2)
      const { isCurrent } = bench.line
      expect(typesOf(events)).toContain(isCurrent ? 'SUBAGENT_STARTED' : 'STEP_STARTED')
      return isCurrent ? undefined : 'stepNames'
    },
  },
  {
    name: 'one agent hands over to another',
    async run(bench) {
      const client = bench.thread('router')
      const events = await bench.ask(client, 'this')
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      expect(lastWords(client)).toBe('The expert heard this.')
    },
  },
  {
    name: 'a graph with a tool',
    async run(bench) {
      const client = bench.thread('graph')
      await bench.ask(client, 'weigh it')
      expect(callsIn(client)).toMatchObject([{ function: { name: 'weigh' } }])
      expect(client.messages.find(({ role }) => role === 'tool')?.content).toContain('weighed a feather')
    },
  },
  {
    name: 'three threads at once',
    async run(bench) {
      const clients = ['one', 'two', 'three'].map((text) => ({ text, client: bench.thread() }))
      await Promise.all(clients.map(({ client, text }) => bench.ask(client, text)))
      for (const { client, text } of clients) expect(lastWords(client)).toBe(`You said ${text}.`)
    },
  },
  {
    name: 'capabilities with the tools and what they do',
    async run(bench) {
      const desk = (await (await bench.fetch('/ag-ui/desk/capabilities')).json()) as never
      const lookUp = { name: 'look_up', description: 'Looks up a word.' }
      expect(desk).toMatchObject({ tools: { items: expect.arrayContaining([lookUp]), clientProvided: true } })
      const graph = (await (await bench.fetch('/ag-ui/graph/capabilities')).json()) as never
      expect(graph).toMatchObject({ tools: { items: [{ name: 'weigh', description: 'Weighs a thing.' }] } })
    },
  },
]
