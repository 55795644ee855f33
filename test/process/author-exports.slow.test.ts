import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Author, type AuthorServer, author } from '../kit/author-server.ts'
import { built } from '../kit/built-server.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'

/** What authors export, written as each framework's documentation teaches it, on the built command. */
let mine: Author
let server: AuthorServer

const graph = (words: string, how: string): string => `
import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
const builder = (words: string) => new StateGraph(MessagesAnnotation)
  .addNode('talk', async () => ({ messages: [new AIMessage(words)] }))
  .addEdge(START, 'talk')
  .addEdge('talk', END)
const words = '${words}'
${how}`
const adk = (how: string): string => `
import { App, BasePlugin, LlmAgent } from '@google/adk'
import { model, say } from '@millrace/server/adk'
const helper = new LlmAgent({ name: 'helper', model: model({ offline: () => say('hello from adk') }) })
class Guard extends BasePlugin {
  async beforeRunCallback() { return { role: 'model', parts: [{ text: 'refused by a plugin' }] } }
}
const guarded = new App({ name: 'helpers', rootAgent: helper, plugins: [new Guard('guard')] })
${how}`

const runnable: Readonly<Record<string, { readonly text: string; readonly says: string; readonly engine: string }>> = {
  'graph-object': {
    text: graph('an object', 'export const graph = builder(words).compile()'),
    says: 'an object',
    engine: 'langgraph',
  },
  'graph-uncompiled': {
    text: graph('a builder', 'export const graph = builder(words)'),
    says: 'a builder',
    engine: 'langgraph',
  },
  'graph-function': {
    text: graph('a function', 'export function graph() { return builder(words).compile() }'),
    says: 'a function',
    engine: 'langgraph',
  },
  'graph-factory': {
    text: graph(
      'thread',
      'export const graph = async ({ configurable }) => builder(words + " " + configurable.thread_id).compile()',
    ),
    says: 'thread session of graph-factory',
    engine: 'langgraph',
  },
  'graph-default': {
    text: graph('a default', 'export default builder(words).compile()'),
    says: 'a default',
    engine: 'langgraph',
  },
  'graph-agent': {
    text: graph('an agent', 'export const agent = builder(words).compile()'),
    says: 'an agent',
    engine: 'langgraph',
  },
  'graph-wrapped': {
    text: graph(
      'a wrapper',
      'class ReactAgent { graph = builder(words).compile(); invoke() {} streamEvents() {} }\nexport const agent = new ReactAgent()',
    ),
    says: 'a wrapper',
    engine: 'langgraph',
  },
  react: {
    text: `import { createReactAgent } from '@langchain/langgraph/prebuilt'
      import { FakeListChatModel } from '@langchain/core/utils/testing'
      export const agent = createReactAgent({ llm: new FakeListChatModel({ responses: ['hello from react'] }), tools: [] })`,
    says: 'hello from react',
    engine: 'langgraph',
  },
  'adk-root': { text: adk('export const rootAgent = helper'), says: 'hello from adk', engine: 'adk' },
  'adk-app': {
    text: adk("export const app = new App({ name: 'helpers', rootAgent: helper })"),
    says: 'hello from adk',
    engine: 'adk',
  },
  // As ADK's own server has it: an App goes before the agent in it, so that its plugins run.
  'adk-app-and-root': {
    text: adk('export const rootAgent = helper\nexport const app = guarded'),
    says: 'refused by a plugin',
    engine: 'adk',
  },
  'adk-app-default': {
    text: adk('export const rootAgent = helper\nexport default guarded'),
    says: 'refused by a plugin',
    engine: 'adk',
  },
  'adk-default': { text: adk('export default helper'), says: 'hello from adk', engine: 'adk' },
  'adk-agent': { text: adk('export const agent = helper'), says: 'hello from adk', engine: 'adk' },
}

const refused: Readonly<Record<string, { readonly text: string; readonly reason: string }>> = {
  'other-name': {
    text: graph('x', 'export const weatherGraph = builder(words).compile()'),
    reason: 'other-name/agent.ts exports weatherGraph, which is a compiled LangGraph: export it as graph.',
  },
  nothing: {
    text: 'export {}',
    reason:
      'nothing/agent.ts exports nothing. Export rootAgent (an agent of @google/adk) or graph (a compiled LangGraph).',
  },
  'a-class': {
    text: 'export default class Weather {}',
    reason:
      'a-class/agent.ts exports a default that is a class: export rootAgent (an agent of @google/adk) or graph (a compiled LangGraph).',
  },
  'empty-factory': {
    text: 'export const graph = async () => ({})',
    reason:
      'empty-factory/agent.ts exports graph that is a function, and what it returned is no agent: it must be a compiled LangGraph, a function that returns one, or an agent of createAgent.',
  },
  'failing-factory': {
    text: "export async function graph() {\n  throw new Error('no database')\n}",
    reason: 'failing-factory/agent.ts:2: no database',
  },
}

/** Projects of LangGraph's platform: a `langgraph.json`, and no file that is named `agent`. */
const platform: Readonly<Record<string, { graphs: object; engine: string; reason: string }>> = {
  'lg-python': {
    graphs: { agent: './src/agent/graph.py:graph' },
    engine: 'python',
    reason:
      'lg-python/langgraph.json names ./src/agent/graph.py, which is written in Python: it runs behind `langgraph dev`, see docs/python-agents.md',
  },
  'lg-typed': {
    graphs: { agent: './src/agent/graph.ts:graph' },
    engine: 'broken',
    reason:
      "lg-typed/langgraph.json names ./src/agent/graph.ts: write lg-typed/agent.ts with `export { graph } from './src/agent/graph.ts'`.",
  },
  'lg-two': {
    graphs: { triage: { path: './src/triage.ts:workflow', description: 'Sorts' }, reply: './src/reply.ts:default' },
    engine: 'broken',
    reason:
      "lg-two/langgraph.json names 2 graphs (triage, reply): write triage/agent.ts with `export { workflow as graph } from '../lg-two/src/triage.ts'`, and the same for the others.",
  },
}

beforeAll(async () => {
  await built()
  mine = author()
  for (const [name, { text }] of Object.entries({ ...runnable, ...refused }))
    mine.write(`agents/${name}/agent.ts`, text)
  mine.write('agents/py/agent.py', "from google.adk.agents import Agent\nroot_agent = Agent(name='py')\n")
  mine.write('agents/py-package/__init__.py', 'from .main import root_agent\n')
  mine.write('agents/py-lib/__init__.py', '')
  for (const [name, { graphs }] of Object.entries(platform))
    mine.write(`agents/${name}/langgraph.json`, JSON.stringify({ dependencies: ['.'], graphs }))
  mine.write('agents/lg-broken/langgraph.json', '{ "graphs": ')
  mine.write('agents/lg-empty/langgraph.json', '{}')
  // In one process: twenty would take as long as the rest of these tests. Agents in their own are tested elsewhere.
  server = mine.serve(['--isolate', 'off'])
  await server.address
})
afterAll(() => mine.close())

test('every export that a framework teaches is found', async () => {
  const agents = await loadedAgents(await server.address)
  const engines = Object.fromEntries(agents.map(({ name, engine }) => [name, engine]))
  expect(engines).toEqual({
    ...Object.fromEntries(Object.entries(runnable).map(([name, { engine }]) => [name, engine])),
    ...Object.fromEntries(Object.keys(refused).map((name) => [name, 'broken'])),
    py: 'python',
    'py-package': 'python',
    ...Object.fromEntries(Object.entries(platform).map(([name, { engine }]) => [name, engine])),
    'lg-broken': 'broken',
  })
})

test.each(Object.keys(runnable))('%s runs', async (name) => {
  const answer = await server.run(name, 'hi', `session of ${name}`)
  const said = [...answer.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('')
  expect(said).toBe(runnable[name]?.says)
  expect(answer).toContain('RUN_FINISHED')
})

test.each(Object.keys(refused))('%s is refused in one sentence with the file, the export and the fix', async (name) => {
  const agents = await loadedAgents(await server.address)
  expect(agents.find((agent) => agent.name === name)?.error).toBe(refused[name]?.reason)
})

test('an agent in Python is listed with where it runs', async () => {
  const agents = await loadedAgents(await server.address)
  expect(agents.find(({ name }) => name === 'py')?.error).toBe(
    'py/agent.py is written in Python: it runs behind `adk api_server` or `langgraph dev`, see docs/python-agents.md',
  )
  expect(await server.run('py', 'hi', 'python')).toContain('py/agent.py is written in Python')
})

test.each(Object.keys(platform))('%s: the graphs of a langgraph.json are listed with what to do', async (name) => {
  const { agents } = (await server.get('/agents')) as { agents: readonly { name: string; error?: string }[] }
  expect(agents.find((agent) => agent.name === name)?.error).toBe(platform[name]?.reason)
})

test('a langgraph.json that is no JSON is named, and the line that the sentence gives makes its graph an agent', async () => {
  const { agents } = (await server.get('/agents')) as { agents: readonly { name: string; error?: string }[] }
  expect(agents.find(({ name }) => name === 'lg-broken')?.error).toMatch(/^lg-broken\/langgraph\.json is no JSON: /)
  mine.write('agents/lg-typed/src/agent/graph.ts', runnable['graph-object']?.text ?? '')
  const [, line = ''] = /`(.*)`/.exec(platform['lg-typed']?.reason ?? '') ?? []
  mine.write('agents/lg-typed/agent.ts', line)
  expect(await server.run('lg-typed', 'hi', 'platform')).toContain('RUN_FINISHED')
})

test('an agents folder that is itself such a project is listed with what to do', async () => {
  const project = author()
  project.write('agents/langgraph.json', JSON.stringify({ graphs: { helper: './src/agent/graph.ts:graph' } }))
  const { agents } = (await project.serve(['--isolate', 'off']).get('/agents')) as {
    agents: readonly { error?: string }[]
  }
  expect(agents.map(({ error }) => error)).toEqual([
    "langgraph.json names ./src/agent/graph.ts: write helper/agent.ts with `export { graph } from '../src/agent/graph.ts'`.",
  ])
  await project.close()
})

test('the start prints the agents as a table, aligned and without colours in a pipe', async () => {
  await server.says(/\n {2}react /)
  const table = server.said()
  expect(table).toMatch(/\n {2}adk-root {10}ADK {8}offline model\n/)
  expect(table).toContain('\n    failing-factory/agent.ts:2: no database\n')
  expect(table).not.toContain('\u001b')
})
