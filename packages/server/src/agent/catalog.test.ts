import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { webHost } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { outline, testSession } from '../../../../test/kit/run-agent.ts'
import type { Agent } from './agent.ts'
import { discoverAgents } from './catalog.ts'
import { loadConfig } from './config.ts'

let folder = ''
const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-agents-'))
  await write(
    'typed/agent.ts',
    `import { LlmAgent, SequentialAgent, FunctionTool } from '@google/adk'
     import { model, say, specialists } from '@millrace/server/adk'
     import { greeting } from './words.ts'
     enum Mood { Fine = 'fine' }
     const llm = model({ offline: ({ user }) => say(greeting(user, Mood.Fine)) })
     const lookup = new FunctionTool({ name: 'lookup', description: 'Looks up', execute: () => 1 })
     const analyst = new LlmAgent({ name: 'analyst', description: 'Analyses', model: llm })
     const greeter = new LlmAgent({ name: 'greeter', description: 'Greets', model: llm, tools: [lookup, ...specialists([analyst])] })
     export const rootAgent = new SequentialAgent({ name: 'typed', description: 'In order', subAgents: [greeter] })
     export const examples: string[] = ['Hello', 'Bye']
     export const name = 'The typed one'`,
  )
  await write('typed/words.ts', "export const greeting = (to: string, mood: string): string => mood + ', ' + to")
  await write(
    'plain/agent.mjs',
    `export const graph = { streamEvents() {}, getGraph: () => ({ nodes: { a: { id: 'a' } }, edges: [] }) }
     export const description = 'A graph'`,
  )
  await write(
    'graphed/agent.ts',
    `import { AIMessage } from '@langchain/core/messages'
     import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
     const talk = async ({ messages }: typeof MessagesAnnotation.State) => ({ messages: [new AIMessage('Hi ' + messages.at(-1)?.content)] })
     export const graph = new StateGraph(MessagesAnnotation).addNode('talk', talk).addEdge(START, 'talk').addEdge('talk', END).compile()`,
  )
  await write(
    'scripted/agent.mjs',
    `import { LlmAgent, FunctionTool } from '@google/adk'
     import { model, say } from '@millrace/server/adk'
     import { z } from 'zod'
     const add = new FunctionTool({ name: 'add', description: 'Adds', parameters: z.object({ a: z.number() }), execute: ({ a }) => a })
     export const rootAgent = new LlmAgent({ name: 'scripted', model: model({ offline: () => say('hi') }), tools: [add] })`,
  )
  await write(
    'lib/make.ts',
    "import { LlmAgent } from '@google/adk'\nexport const make = (name: string) => new LlmAgent({ name, model: 'offline' })",
  )
  await write('shared/agent.ts', "import { make } from '../lib/make.js'\nexport const rootAgent = make('shared')")
  await write('stuck/agent.ts', 'await new Promise(() => {})\nexport const rootAgent = 1')
  await write('throws/agent.ts', "\n\nthrow new Error('DATABASE_URL is not set')")
  await write('syntax/agent.ts', 'export const rootAgent: = 3')
  await write('unset/agent.ts', 'export let rootAgent: object | undefined')
  await write('lookalike/agent.ts', "export const agent = { name: 'mine', run() {} }")
  await write('missing/agent.ts', "import { tool } from './tools.ts'\nexport const rootAgent = tool")
  await write('empty/agent.ts', 'export const agent = 1')
  await write('wrong/agent.ts', "import '@google/adk'\nexport const rootAgent = { name: 'wrong' }")
  await write('uncompiled/agent.js', 'export const graph = { nodes: {} }')
  await write('notes/README.md', 'no agent here')
  await write('_draft/agent.ts', 'throw new Error()')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const find = (name: string): Agent => {
  const agent = discoverAgents(folder, { models: { tokensPerSecond: 0 } }).agents.get(name)
  if (agent === undefined) throw new Error(`no agent ${name}`)
  return agent
}

describe('discovery', () => {
  test('lists folders with an agent file, by name, without loading any', () => {
    const { agents } = discoverAgents(folder)
    expect([...agents.keys()]).toEqual([
      'empty',
      'graphed',
      'lookalike',
      'missing',
      'plain',
      'scripted',
      'shared',
      'stuck',
      'syntax',
      'throws',
      'typed',
      'uncompiled',
      'unset',
      'wrong',
    ])
  })

  test('loads TypeScript, describes its agents, tools and specialists, and says that the model is offline', async () => {
    expect(await find('typed').describe()).toEqual({
      name: 'typed',
      title: 'The typed one',
      description: 'In order',
      engine: 'adk',
      engineLabel: 'ADK',
      capabilities: {
        parallelToolCalls: true,
        clientTools: true,
        openQuestions: true,
        reasoning: true,
        runsOn: true,
        changedPrompts: true,
      },
      examples: ['Hello', 'Bye'],
      resumable: false,
      model: { name: 'offline', offline: true },
      tools: ['lookup'],
      toolDescriptions: { lookup: 'Looks up' },
      graph: {
        nodes: [
          { id: 'typed', kind: 'agent', description: 'In order' },
          { id: 'greeter', kind: 'agent', description: 'Greets' },
          { id: 'lookup', kind: 'tool', description: 'Looks up' },
          { id: 'analyst', kind: 'agent', description: 'Analyses' },
        ],
        edges: [
          { from: 'typed', to: 'greeter' },
          { from: 'greeter', to: 'lookup' },
          { from: 'greeter', to: 'analyst', label: 'consults' },
        ],
      },
    })
  })

  test('runs TypeScript agents on the same @google/adk as the engine', async () => {
    const events = await testSession(find('typed')).run('Ada')
    expect(outline(events)).toEqual([
      '> typed@1',
      '> typed/greeter@1',
      'greeter … “fine, ”',
      'greeter … “Ada”',
      'greeter “fine, Ada”',
      '< typed/greeter@1',
      '< typed@1',
      'done',
    ])
  })

  test('the folder may be relative', async () => {
    const { agents } = discoverAgents(relative('.', folder), { models: { tokensPerSecond: 0 } })
    expect(await agents.get('typed')?.describe()).toMatchObject({ engine: 'adk' })
  })

  test.each([
    ['a graph', 'graphed', ['state', '> talk@1', 'talk “Hi Ada”', 'state', '< talk@1']],
    ['plain JavaScript', 'scripted', ['> scripted@1', 'scripted … “hi”', 'scripted “hi”', '< scripted@1', 'done']],
  ])('%s in a folder without packages runs on the server’s own', async (_, name, lines) => {
    const events = await testSession(find(name)).run('Ada')
    expect(outline(events.filter(({ kind }) => kind !== 'log'))).toEqual(lines)
  })

  test('a file outside the folder, imported from it, may use them too', async () => {
    expect(await find('shared').describe()).toMatchObject({ engine: 'adk', name: 'shared' })
  })

  test('a file that never finishes loading is listed as loading, and the listing does not wait for it', async () => {
    const catalog = discoverAgents(folder, { patience: 20 })
    const stuck = catalog.agents.get('stuck')
    expect(await stuck?.describe()).toMatchObject({
      engine: 'loading',
      error: expect.stringMatching(/^stuck[\\/]agent\.ts is still loading\. .* top-level await/),
    })
    if (stuck !== undefined) await expect(testSession(stuck).run('hi')).rejects.toThrow(/is still loading/)
  })

  test('a file that is only slow becomes available once it has loaded', async () => {
    await write(
      'slow/agent.ts',
      `await (globalThis as { slowAgent?: Promise<void> }).slowAgent
      export const graph = { streamEvents() {}, getGraph: () => ({ nodes: {}, edges: [] }) }`,
    )
    let done = (): void => {}
    Object.assign(globalThis, {
      slowAgent: new Promise<void>((resolve) => {
        done = resolve
      }),
    })
    const slow = discoverAgents(folder, { patience: 20 }).agents.get('slow')
    expect(await slow?.describe()).toMatchObject({ engine: 'loading' })
    done()
    await vi.waitFor(async () => expect(await slow?.describe()).toMatchObject({ engine: 'langgraph' }), 60_000)
    await rm(join(folder, 'slow'), { recursive: true })
  })

  test('a graph goes to the LangGraph engine', async () => {
    expect(await find('plain').describe()).toMatchObject({ engine: 'langgraph', description: 'A graph' })
  })

  test.each([
    ['throws', /^throws[\\/]agent\.ts:3: DATABASE_URL is not set$/],
    ['syntax', /^syntax[\\/]agent\.ts:1: [^\n]+$/],
    ['unset', /^unset[\\/]agent\.ts exports rootAgent that is undefined: it must be an agent or a workflow/],
    [
      'lookalike',
      /^lookalike[\\/]agent\.ts: the exported object has a name and can run, but is of another kind: it must/,
    ],
    ['missing', /^missing[\\/]agent\.ts:1: Cannot find module '\.\/tools\.ts'/],
    ['empty', /^empty[\\/]agent\.ts exports agent that is a number: export rootAgent \(/],
    [
      'wrong',
      /^wrong[\\/]agent\.ts exports rootAgent that is an object: it must be an agent or a workflow of @google\/adk/,
    ],
    ['uncompiled', /^uncompiled[\\/]agent\.js exports graph that is an object: it must be a compiled LangGraph/],
  ])('%s is listed as broken, with what to do about it', async (name, reason) => {
    const described = await find(name).describe()
    expect(described.engine).toBe('broken')
    expect(described.error).toMatch(reason)
    await expect(testSession(find(name)).run('hi')).rejects.toThrow(reason)
  })

  test('warming loads them all, and broken ones do not stop the others', async () => {
    await discoverAgents(folder, { patience: 200 }).warm()
  })

  test('a folder that does not exist is an error that names it', () => {
    expect(() => discoverAgents(join(folder, 'nowhere'))).toThrow(/does not exist/)
  })
})

describe('configuration', () => {
  const host = webHost(globalThis)

  test('remote agents come from millrace.config; a name that is also a folder is an error', async () => {
    await write(
      'a/millrace.config.ts',
      "export default { port: 9 as number, agents: { far: { url: 'http://localhost:9/run', dialect: 'ag-ui', headers: { authorization: 'Bearer x' } } } }",
    )
    const config = await loadConfig(join(folder, 'a'))
    const { agents } = discoverAgents(folder, { config, host })
    expect(await agents.get('far')?.describe()).toMatchObject({ engine: 'remote', engineLabel: 'Remote' })
    expect(() => discoverAgents(folder, { config })).toThrow(/far is in the configuration: discoverAgents needs a host/)
    const twice = { agents: { typed: { url: 'http://localhost:9', dialect: 'adk' as const } } }
    expect(() => discoverAgents(folder, { config: twice, host })).toThrow(/typed is a folder and also/)
    const wrong = { agents: { far: { url: 'nowhere', dialect: 'adk' as const } } }
    expect(() => discoverAgents(folder, { config: wrong, host })).toThrow(/entry of the agent far .* is not valid/)
  })

  test('without a file the configuration is empty; the error of an invalid one names the file and the field', async () => {
    expect(await loadConfig(folder)).toEqual({})
    await write(
      'b/millrace.config.json',
      '{ "agents": { "far": { "url": "file:///etc/passwd", "dialect": "ag-ui" } } }',
    )
    await expect(loadConfig(join(folder, 'b'))).rejects.toThrow(/millrace\.config\.json: agents\.far\.url: /)
    await write('c/millrace.config.json', '{')
    await expect(loadConfig(join(folder, 'c'))).rejects.toThrow(/millrace\.config\.json: /)
    await write('e/millrace.config.ts', 'export const settings = { agents: {} }')
    await expect(loadConfig(join(folder, 'e'))).rejects.toThrow(
      /config\.ts: it exports no configuration: write export default/,
    )
    await write('f/millrace.config.ts', "const by = 'name'\nexport { by }\nexport const recordPrompts = { far: false }")
    expect(await loadConfig(join(folder, 'f'))).toEqual({ recordPrompts: { far: false } })
  })
})
