import { once } from 'node:events'
import { utimesSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Author, type AuthorServer, author } from '../kit/author-server.ts'
import { built } from '../kit/built-server.ts'
import { type ListedAgent, loadedAgents } from '../kit/loaded-agents.ts'

/** A day of an author, on the built command: edits, folders, variables, configuration and errors, without a restart. */
let mine: Author

/** One folder and one server for the tests that need no others: each has agents of its own there. */
let common: Author
let server: AuthorServer

/** A door that a node can wait at, until the test opens it. */
const knocking = new Set<ServerResponse>()
const door = createServer((_, response) => {
  knocking.add(response)
  door.emit('knock')
})

beforeAll(async () => {
  await built()
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  common = author()
  common.write('agents/quiet/agent.ts', talks("'works'"))
  server = common.serve()
})
afterAll(async () => {
  await common.close()
  door.closeAllConnections()
  door.close()
})
beforeEach(() => {
  mine = author()
})
afterEach(() => mine.close())

const doorAddress = (): string => `http://127.0.0.1:${(door.address() as AddressInfo).port}/`

/** A graph that answers with the text of an expression. */
const talks = (expression: string, before = ''): string => `
import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
${before}
const talk = async () => ({ messages: [new AIMessage(String(${expression}))] })
export const graph = new StateGraph(MessagesAnnotation).addNode('talk', talk).addEdge(START, 'talk').addEdge('talk', END).compile()
`
const saidIn = (answer: string): string => [...answer.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('')

const listed = async (server: AuthorServer): Promise<readonly ListedAgent[]> => loadedAgents(await server.address)

test('the next run has an edit of the file, and of a file beside it; one under way keeps its code', async () => {
  const waits = (word: string): string =>
    talks('words() + " " + said', `import { words } from './words.ts'\nconst said = await '${word}'`).replace(
      'const talk = async () => (',
      `const talk = async () => (await fetch('${doorAddress()}'), `,
    )
  mine.write('agents/a/words.ts', "export const words = () => 'old words'")
  mine.write('agents/a/agent.ts', waits('one'))
  mine.write('agents/plain/agent.mjs', talks("'plain one'"))
  const server = mine.serve()
  const knock = once(door, 'knock')
  const first = server.run('a', 'hi', 'first')
  await knock
  mine.write('agents/a/agent.ts', waits('two'))
  for (const response of knocking) response.end()
  knocking.clear()
  expect(saidIn(await first)).toBe('old words one')
  door.on('knock', () => {
    for (const response of knocking) response.end()
  })
  expect(saidIn(await server.run('a', 'hi', 'second'))).toBe('old words two')
  mine.write('agents/a/words.ts', "export const words = () => 'new words'")
  expect(saidIn(await server.run('a', 'hi', 'third'))).toBe('new words two')
  expect(saidIn(await server.run('plain', 'hi', 'p1'))).toBe('plain one')
  mine.write('agents/plain/agent.mjs', talks("'plain two'"))
  expect(saidIn(await server.run('plain', 'hi', 'p2'))).toBe('plain two')
  // Node itself loads this one at first, because it imports no package.
  const bare = (name: string): string =>
    `export const graph = { streamEvents() {}, getGraph: () => ({ nodes: {}, edges: [] }) }\nexport const title = '${name}'`
  mine.write('agents/bare/agent.mjs', bare('one'))
  expect(await listed(server)).toContainEqual(expect.objectContaining({ name: 'bare', title: 'one' }))
  mine.write('agents/bare/agent.mjs', bare('two'))
  expect(await listed(server)).toContainEqual(expect.objectContaining({ name: 'bare', title: 'two' }))
})

test('a folder that is added can be run, and one that is removed is gone', async () => {
  const names = async (): Promise<readonly string[]> => (await listed(server)).map(({ name }) => name)
  expect(await names()).toEqual(['quiet'])
  common.write('agents/a/agent.ts', talks("'a'"))
  expect(await names()).toEqual(['a', 'quiet'])
  common.write('agents/b/agent.ts', talks("'b'"))
  expect(saidIn(await server.run('b', 'hi', 'b'))).toBe('b')
  common.remove('agents/a')
  expect(await names()).toEqual(['b', 'quiet'])
  expect(await server.run('a', 'hi', 'a')).toContain('unknown agent a')
})

test('a broken edit leaves the version before it, and its error is listed and logged; the repair is taken', async () => {
  const edited = async (): Promise<ListedAgent | undefined> =>
    (await listed(server)).find(({ name }) => name === 'edited')
  common.write('agents/edited/agent.ts', talks("'works'"))
  expect(saidIn(await server.run('edited', 'hi', '1'))).toBe('works')
  common.write('agents/edited/agent.ts', "import './tools.ts'\n")
  expect(saidIn(await server.run('edited', 'hi', '2'))).toBe('works')
  expect(await edited()).toMatchObject({
    engine: 'langgraph',
    editError: "edited/agent.ts:1: Cannot find module './tools.ts'",
  })
  await server.says(/"agent":"edited".*Cannot find module '\.\/tools\.ts' \(the version before it still runs\)/)
  // The missing file is added: the edit itself is not touched again.
  common.write('agents/edited/tools.ts', 'export {}')
  expect((await edited())?.editError).toMatch(/edited\/agent\.ts exports nothing\./)
  common.write('agents/edited/agent.ts', talks("'repaired'"))
  expect(saidIn(await server.run('edited', 'hi', '3'))).toBe('repaired')
  expect(await edited()).not.toHaveProperty('editError')
})

test('without a request, an edit that does not load is in the server log', async () => {
  await server.says(/\n {2}quiet {2}LangGraph/)
  common.write('agents/quiet/agent.ts', "\nthrow new Error('no such city')")
  await server.says(/quiet\/agent\.ts:2: no such city/)
})

test('.env: the process wins over the agent’s folder, that over the agents folder, that over the working directory', async () => {
  mine.write('.env', 'CITY=here\nRIVER=here\nHILL=here\nLAKE=secret-lake\n')
  mine.write('agents/.env', 'CITY=agents\nRIVER=agents\n')
  mine.write('agents/a/.env', 'CITY=own\nMILLRACE_MODEL=gemini-from-env\n')
  const shown = '[process.env.CITY, process.env.RIVER, process.env.HILL, process.env.LAKE].join()'
  mine.write('agents/a/agent.ts', talks(shown))
  const server = mine.serve(['--log-level', 'trace'])
  expect(saidIn(await server.run('a', 'hi', '1'))).toBe('own,agents,here,secret-lake')
  mine.write('agents/a/.env', 'CITY=edited\n')
  utimesSync(join(mine.folder, 'agents/a/.env'), 1, 1)
  expect(saidIn(await server.run('a', 'hi', '2'))).toBe('edited,agents,here,secret-lake')
  expect(server.said()).not.toContain('secret-lake')
  // The next run has an edit of the two around it, too, and what left a file is gone.
  mine.write('agents/.env', 'RIVER=new river\n')
  expect(saidIn(await server.run('a', 'hi', '3'))).toBe('edited,new river,here,secret-lake')
  mine.write('.env', 'CITY=here\nHILL=new hill\n')
  expect(saidIn(await server.run('a', 'hi', '4'))).toBe('edited,new river,new hill,')
  const other = mine.serve([], { CITY: 'process', LAKE: '' })
  expect(saidIn(await other.run('a', 'hi', '1'))).toBe('process,new river,new hill,')
})

test('millrace.config is found in the working directory, beside the agents folder and by --config', async () => {
  const entry = (name: string): string =>
    `import { defineConfig } from '@millrace/server'\nexport default defineConfig({ agents: { ${name}: { url: 'http://127.0.0.1:9/', dialect: 'ag-ui' } } })`
  mine.write('elsewhere/agents/.gitkeep', '')
  mine.write('elsewhere/millrace.config.ts', entry('beside'))
  const beside = mine.serve(['--agents', 'elsewhere/agents'])
  expect((await listed(beside)).map(({ name }) => name)).toEqual(['beside'])
  mine.write('given.ts', entry('given'))
  const given = mine.serve(['--agents', 'elsewhere/agents', '--config', 'given.ts'])
  expect((await listed(given)).map(({ name }) => name)).toEqual(['given'])
  const absent = mine.serve(['--config', 'absent.ts'])
  await expect(absent.address).rejects.toThrow(/the configuration .*absent\.ts does not exist/)
})

test('a file that hangs at import does not hold the listing, and is loading, not broken', async () => {
  mine.write('agents/good/agent.ts', talks("'good'"))
  mine.write('agents/hangs/agent.ts', 'await new Promise(() => setInterval(() => {}, 1000))\nexport const graph = 1')
  const server = mine.serve()
  // On a busy machine the first list may come before the good one has loaded, too.
  await expect
    .poll(() => server.get('/agents'))
    .toMatchObject({
      agents: [
        { name: 'good', engine: 'langgraph' },
        { name: 'hangs', engine: 'loading', error: expect.stringMatching(/^hangs\/agent\.ts is still loading\./) },
      ],
    })
  expect(saidIn(await server.run('good', 'hi', 's'))).toBe('good')
})

test('a throw in a node or a tool is recorded with file and line, and no client sees a path of this machine', async () => {
  common.write(
    'agents/node/deep.ts',
    "export function read(): string {\n  throw new Error('cannot open ' + import.meta.filename)\n}",
  )
  common.write('agents/node/agent.ts', talks('read()', "import { read } from './deep.ts'"))
  common.write(
    'agents/tool/agent.ts',
    `import { FunctionTool, LlmAgent } from '@google/adk'
import { call, model, say } from '@millrace/server/adk'
const lookup = new FunctionTool({
  name: 'lookup',
  description: 'Looks up',
  execute: () => {
    throw new Error('no file /etc/lookup/table.json')
  },
})
export const rootAgent = new LlmAgent({
  name: 'tool',
  tools: [lookup],
  model: model({ offline: ({ step }) => (step === 0 ? call('lookup', {}) : say('sorry')) }),
})`,
  )
  const node = await server.run('node', 'hi', 'node')
  const tool = await server.run('tool', 'hi', 'tool')
  expect(node).toContain('RUN_ERROR')
  expect(tool).toContain('no file table.json')
  const logs = await Promise.all(
    ['node', 'tool'].map(async (session) =>
      (
        await fetch(`${await server.address}/sessions/${session}/events?run=${encodeURIComponent(`run of ${session}`)}`)
      ).text(),
    ),
  )
  expect(logs[0]).toContain('the graph threw at node/deep.ts:2: cannot open node/deep.ts')
  expect(logs[1]).toContain("the tool lookup threw at tool/agent.ts:7: Error in tool 'lookup': no file table.json")
  await server.says(/"agent":"node".*the graph threw at node\/deep\.ts:2/)
  await server.says(/"agent":"tool".*the tool lookup threw at tool\/agent\.ts:7/)
  for (const text of [node, tool, ...logs]) {
    expect(text).not.toContain(common.folder)
    expect(text).not.toContain('/etc/lookup')
  }
})

test.each(['on', 'off'])(
  'a key that an error repeats is not in the stream, the log or the output: --isolate %s',
  async (isolate) => {
    const key = 'sk-key-of-a-vendor'
    mine.write('agents/a/.env', `VENDOR_API_KEY=${key}\n`)
    mine.write(
      'agents/a/agent.ts',
      talks(
        'await refuse()',
        "const refuse = async () => { throw new Error('wrong key: ' + process.env.VENDOR_API_KEY) }",
      ),
    )
    mine.write('agents/b/agent.ts', talks("void Promise.reject(new Error('lost: ' + process.env.VENDOR_API_KEY))"))
    mine.write('agents/b/.env', `VENDOR_API_KEY=${key}\n`)
    const server = mine.serve(['--isolate', isolate])
    const answer = await server.run('a', 'hi', 'refused')
    expect(answer).toContain('wrong key: [redacted]')
    await server.run('b', 'hi', 'lost')
    await server.says(/lost: \[redacted\]/)
    const log = await (await fetch(`${await server.address}/sessions/refused/log`)).text()
    expect(log).toContain('wrong key: [redacted]')
    expect(answer + log + server.said()).not.toContain(key)
  },
)
