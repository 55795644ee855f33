import { expect } from 'vitest'
import { callsIn, lastWords, typesOf } from './ag-ui-clients.ts'
import type { AgUiScenario } from './ag-ui-scenario.ts'

const pickColour = {
  name: 'pick_colour',
  description: 'Ask the person for a colour',
  parameters: { type: 'object', properties: { of: { type: 'string' } } },
}
const pickSize = {
  name: 'pick_size',
  description: 'Ask the person for a size',
  parameters: { type: 'object', properties: {} },
}
const tools = [pickColour, pickSize]

/** Tools that the client runs, questions to a person, and the state that both sides share. */
export const peopleScenarios: readonly AgUiScenario[] = [
  {
    name: 'a tool of the client',
    async run(bench) {
      const client = bench.thread()
      const events = await bench.ask(client, 'colour: sky', { tools })
      expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
      const [call] = callsIn(client)
      expect(call).toMatchObject({ function: { name: 'pick_colour', arguments: '{"of":"sky"}' } })
      bench.toolAnswer(client, call!, 'blue')
      await bench.run(client, { tools })
      expect(lastWords(client)).toBe('Chosen: pick_colour {"result":"blue"}')
    },
  },
  {
    name: 'two tools of the client, answered together',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'colour and size', { tools })
      const [colour, size] = callsIn(client)
      bench.toolAnswer(client, colour!, 'blue')
      bench.toolAnswer(client, size!, 'large')
      await bench.run(client, { tools })
      expect(lastWords(client)).toBe('Chosen: pick_colour {"result":"blue"}, pick_size {"result":"large"}')
    },
  },
  {
    name: 'two tools of the client, answered one by one',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'colour and size', { tools })
      const [colour, size] = callsIn(client)
      bench.toolAnswer(client, size!, 'large')
      const waiting = await bench.run(client, { tools })
      expect(typesOf(waiting).at(-1)).toBe('RUN_FINISHED')
      if (bench.line.isCurrent)
        expect(waiting.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: [colour!.id] } })
      expect(lastWords(client)).toBeUndefined()
      bench.toolAnswer(client, colour!, 'blue')
      await bench.run(client, { tools })
      expect(lastWords(client)).toBe('Chosen: pick_size {"result":"large"}, pick_colour {"result":"blue"}')
    },
  },
  {
    name: 'a call of the client that the person passes by',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'colour: sky', { tools })
      await bench.ask(client, 'Hello', { tools })
      expect(lastWords(client)).toBe('You said Hello.')
      const [call] = callsIn(client)
      const log = await (await bench.fetch(`/sessions/${client.threadId}/log`)).text()
      expect(log).toContain(`{"kind":"resumed","interrupt":"${call!.id}","status":"cancelled"}`)
      await bench.ask(client, 'Again', { tools })
      expect(lastWords(client)).toBe('You said Again.')
    },
  },
  {
    name: 'a confirmation is a question, and no tool call; yes',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'note: milk')
      const events = await bench.ask(client, 'erase')
      expect(callsIn(client).map((call) => call.function.name)).toEqual(['add_note', 'erase_notes'])
      const asked = bench.line.resumes ? events.at(-1) : events.find(({ type }) => type === 'CUSTOM')
      expect(JSON.stringify(asked)).toContain('Erase the notes?')
      await bench.answer(client, { approved: true })
      expect(client.state).toMatchObject({ notes: [] })
      expect(lastWords(client)).toBe('erase_notes {"erased":true}')
      return bench.line.resumes ? undefined : 'command'
    },
  },
  {
    name: 'a confirmation; no',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'note: milk')
      await bench.ask(client, 'erase')
      await bench.answer(client, { approved: false })
      expect(client.state).toMatchObject({ notes: ['milk'] })
      return bench.line.resumes ? undefined : 'command'
    },
  },
  {
    name: 'a graph asks and goes on with the answer',
    async run(bench) {
      const client = bench.thread('graph')
      const events = await bench.ask(client, 'publish')
      expect(JSON.stringify(events)).toContain('Publish it?')
      await bench.answer(client, 'yes')
      expect(lastWords(client)).toBe('Answered "yes".')
      expect(client.state).toMatchObject({ published: 1 })
      return bench.line.resumes ? undefined : 'command'
    },
  },
  {
    name: 'the answer comes under the run id of the question',
    async run(bench) {
      const client = bench.thread('graph')
      const runId = `run-${bench.name()}`
      await bench.ask(client, 'publish', { runId })
      await bench.answer(client, 'yes', { runId })
      expect(lastWords(client)).toBe('Answered "yes".')
      expect((await bench.session(client)).runs).toBe(2)
      return bench.line.resumes ? undefined : 'command'
    },
  },
  {
    name: "a question as LangGraph's own integration sends it (`?interrupts=custom`)",
    async run(bench) {
      const client = bench.thread('graph', { query: '?interrupts=custom' })
      const runId = `run-${bench.name()}`
      const events = await bench.ask(client, 'publish', { runId })
      const asked = events.find(({ name }) => name === 'on_interrupt')
      expect(JSON.parse(String(asked?.value))).toEqual({ message: 'Publish it?', schema: { type: 'boolean' } })
      expect(events.at(-1)).not.toHaveProperty('outcome')
      expect(client.pendingInterrupts ?? []).toEqual([])
      await bench.run(client, { runId, forwardedProps: { command: { resume: 'yes', interruptEvent: asked?.value } } })
      expect(lastWords(client)).toBe('Answered "yes".')
      expect(await bench.session(client)).toEqual({ status: 'done', runs: 2 })
    },
  },
  {
    name: 'the page is reloaded while a question is open',
    async run(bench) {
      const client = bench.thread('graph')
      await bench.ask(client, 'publish')
      const reloaded = bench.thread('graph', { threadId: client.threadId })
      await bench.connect(reloaded)
      await bench.answer(reloaded, 'yes')
      expect(lastWords(reloaded)).toBe('Answered "yes".')
      return bench.line.resumes ? undefined : 'command'
    },
  },
  {
    name: 'state from the agent',
    async run(bench) {
      const client = bench.thread()
      const events = await bench.ask(client, 'note: milk')
      expect(typesOf(events)).toEqual(expect.arrayContaining(['STATE_DELTA', 'STATE_SNAPSHOT']))
      await bench.ask(client, 'note: bread')
      expect(client.state).toEqual({ notes: ['milk', 'bread'] })
    },
  },
  {
    name: 'state from the client',
    async run(bench) {
      const client = bench.thread('desk', { initialState: { notes: ['tea'], theme: 'dark' } })
      await bench.ask(client, 'note: milk')
      expect(client.state).toEqual({ notes: ['tea', 'milk'], theme: 'dark' })
      client.setState({ notes: [], theme: 'light' })
      await bench.ask(client, 'state')
      expect(JSON.parse(String(lastWords(client)))).toEqual({ notes: [], theme: 'light' })
    },
  },
  {
    name: 'state that is null gets a snapshot before the first change',
    async run(bench) {
      const client = bench.thread()
      client.setState(null)
      const events = await bench.ask(client, 'note: milk')
      expect(client.state).toEqual({ notes: ['milk'] })
      const first = events.findIndex(({ type }) => type === 'STATE_DELTA')
      expect(typesOf(events).slice(0, first)).toContain('STATE_SNAPSHOT')
    },
  },
  {
    name: 'a key that the client removed stays removed',
    async run(bench) {
      const client = bench.thread('desk', { initialState: { theme: 'dark' } })
      await bench.ask(client, 'note: milk')
      client.setState({ notes: ['milk'] })
      await bench.ask(client, 'state')
      expect(JSON.parse(String(lastWords(client)))).toEqual({ notes: ['milk'] })
      expect(client.state).toEqual({ notes: ['milk'] })
    },
  },
  {
    name: 'a new page without state does not remove the state',
    async run(bench) {
      const client = bench.thread()
      await bench.ask(client, 'note: milk')
      const fresh = bench.thread('desk', { threadId: client.threadId })
      await bench.ask(fresh, 'Hello')
      expect(fresh.state).toEqual({ notes: ['milk'] })
    },
  },
]
