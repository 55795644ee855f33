import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { loadConfigFile } from '@millrace/server'
import { createServer, type InlineConfig } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../packages/cli/src/serve/settings.ts'
import { packedFolder, published } from '../../scripts/pack.mjs'
import { type Author, author } from '../kit/author-server.ts'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'
import { readBlocks } from './readme-blocks.ts'

/** Every block of code in every document runs: against the server as it ships, or where the note beside it says. */
const root = fileURLToPath(new URL('../../', import.meta.url))
const blocks = new Map(readBlocks().map((block) => [block.name, block]))
const codeOf = (name: string): string => {
  const block = blocks.get(name)
  if (block === undefined) throw new Error(`there is no block ${name}`)
  return block.code
}

const curled = ['README.md 2', 'docs/debugging.md 2', 'docs/debugging.md 5']
const commands = [
  'README.md 4',
  'docs/adk-web.md 1',
  'docs/debugging.md 1',
  'docs/identity.md 1',
  'docs/scale.md 1',
  'packages/cli/README.md 1',
]
const installs = [
  'packages/core/README.md 1',
  'packages/react/README.md 1',
  'packages/server/README.md 1',
  'docs/embedding.md 1',
]
const agents: Readonly<Record<string, string>> = {
  'packages/cli/README.md 2': 'greeter',
  'docs/models.md 1': 'brief',
  'docs/models.md 2': 'searcher',
}
const configs = ['README.md 3', 'docs/python-agents.md 2', 'docs/python-agents.md 4']
const elsewhere: Readonly<Record<string, string>> = {
  'packages/react/README.md 2': 'consumer.test.ts',
  'packages/react/README.md 4': 'consumer.test.ts',
  'packages/react/README.md 5': 'consumer.test.ts',
  'packages/react/README.md 6': 'consumer.test.ts',
  'docs/agents.md 1': 'author-types.slow.test.ts',
  'docs/agents.md 2': 'author-types.slow.test.ts',
  'docs/agents.md 3': 'author-types.slow.test.ts',
  'docs/agents.md 4': 'author-types.slow.test.ts',
  'docs/agents.md 5': 'author-types.slow.test.ts',
  'docs/clients.md 1': 'the chat scenario of ag-ui-matrix.slow.test.ts',
  'docs/clients.md 2': 'ag-ui-matrix.slow.test.ts, which compares its class with this text',
  'docs/clients.md 3': 'foreign-clients.test.ts, which compares this text with the example that it runs',
  'examples/copilotkit/README.md 1': 'foreign-clients.test.ts builds and serves the page and the runtime',
  'examples/assistant-ui/README.md 1': 'foreign-clients.test.ts builds and serves the page',
  'examples/tanstack-ai/README.md 1': 'foreign-clients.test.ts builds and serves the page',
  'examples/node-tail/README.md 1': 'test/browser/examples.test.ts',
  'README.md 1': 'the suite itself: npm start in start.slow.test.ts',
  ...Object.fromEntries(
    [...blocks.keys()].filter((name) => name.startsWith('docs/cli.md ')).map((name) => [name, 'cli-docs.slow.test.ts']),
  ),
  'docs/scale.md 2': 'move.slow.test.ts',
  'docs/debugging.md 3': 'test/http/run-on.test.ts, which changes such an agent',
  'docs/search.md 1': 'test/http/search.test.ts and cli-agents.slow.test.ts',
  'README.md 6': 'cli-agents.slow.test.ts runs it and compares the lines',
  'docs/testing-agents.md 1': 'cli-test.slow.test.ts',
  'docs/testing-agents.md 2': 'cli-test.slow.test.ts, which runs the case of the example agent',
  'docs/testing-agents.md 3': 'recorded-case.test.ts, which runs it as the assertion of a case',
}
const notRun: Readonly<Record<string, string>> = {
  'README.md 5': 'a drawing',
  'docs/scale.md 3': 'a histogram',
  'agents/planner/README.md 1': 'a drawing',
  'agents/recovery/README.md 1': 'a drawing',
  'agents/research/README.md 1': 'a drawing',
  'docs/wires/adk.md 1': 'the grammar of a wire',
  'docs/wires/millrace.md 1': 'the grammar of a wire',
  'docs/wires/studio.md 1': 'it needs the sources of ADK Studio',
  'docs/python-agents.md 1': 'Python',
  'docs/python-agents.md 3': 'Python',
  'examples/next-flag/README.md 1': 'test/packed/next-flag.test.ts, which installs Next in the whole form only',
}
const here = [
  ...['packages/core/README.md 2', 'packages/server/README.md 2', 'packages/react/README.md 3'],
  ...['docs/debugging.md 4', 'examples/react-chat/README.md 1'],
  ...['docs/embedding.md 2', 'docs/embedding.md 3', 'docs/embedding.md 4', 'docs/embedding.md 5'],
]

test('every block is run, or says why not', () => {
  const known = [curled, commands, installs, configs, here, agents, elsewhere, notRun]
  const names = known.flatMap((list) => (Array.isArray(list) ? list : Object.keys(list)))
  expect([...blocks.keys()].toSorted()).toEqual(names.toSorted())
})

const children = new Set<ChildProcess>()
const folder = mkdtempSync(join(tmpdir(), 'millrace-readme-'))
afterAll(async () => {
  for (const child of children) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
})

/** What a command prints until it ends, or until it has printed something that matches. */
async function output(command: string, args: readonly string[], cwd: string, until: RegExp): Promise<string> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH ?? '' } })
  children.add(child)
  let text = ''
  const closed = once(child, 'close')
  const found = new Promise<void>((resolve) => {
    const take = (bytes: Buffer): void => {
      text += bytes.toString()
      if (until.test(text)) resolve()
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
  })
  await Promise.race([closed, found])
  return text
}

/** A file among the packages as they ship, so that it finds them. */
function script(name: string, text: string): string {
  const path = `${packedFolder}/readme/${name}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const linesOf = (name: string): readonly string[] =>
  codeOf(name)
    .split(/(?<!\\)\n/)
    .filter((line) => line.trim() !== '')

describe('against the server with the examples', () => {
  let served: Served
  beforeAll(async () => {
    const args = ['serve', '--port', '0', '--data-dir', join(folder, 'data'), ...oneProcess]
    served = await serveBuilt(args, { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' })
  })
  afterAll(() => served.kill())

  test.each(curled.flatMap((name) => linesOf(name).map((line) => [name, line] as const)))('%s: %s', async (_, line) => {
    const command = line
      .replaceAll('http://127.0.0.1:8000', served.address)
      .replace('/sessions/ID/', '/sessions/t1/')
      .replace(/^curl/, 'curl -sS --fail-with-body')
    // One that follows a session does not end: what it prints first is judged.
    const follows = line.includes('/events') && !line.includes('run=')
    const text = await output('sh', ['-c', `${command}\necho "exit $?"`], folder, follows ? /\n\n|exit \d/ : /exit \d/)
    expect(text).not.toMatch(/exit [1-9]/)
    expect(text).not.toContain('"status":4')
    expect(text).toMatch(/\S/)
  })

  test('docs/debugging.md: the database', () => {
    const Database = createRequire(`${packedFolder}/node_modules/@millrace/server/package.json`)('libsql')
    const db = new Database(join(folder, 'data/millrace.db'), { readonly: true })
    const [sessions, events, leases] = codeOf('docs/debugging.md 4').split(';')
    expect(db.prepare(sessions).all()).toContainEqual(expect.objectContaining({ name: 't1' }))
    expect(db.prepare(events?.replace("'ID'", "'t1'")).all().length).toBeGreaterThan(3)
    expect(db.prepare(leases).all()).toEqual([])
    db.close()
  })

  const proxied = async (config: InlineConfig): Promise<number> => {
    const vite = await createServer({ logLevel: 'error', ...config, server: { ...config.server, port: 0 } })
    try {
      await vite.listen()
      const [origin = ''] = vite.resolvedUrls?.local ?? []
      const own = new URL(origin).origin
      const { status } = await fetch(`${own}/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: own },
        body: '{"agent":"research"}',
      })
      return status
    } finally {
      await vite.close()
    }
  }
  test('packages/react/README.md: a page behind the proxy of Vite may act', async () => {
    const path = script(
      'vite.config.mjs',
      codeOf('packages/react/README.md 3').replace('http://127.0.0.1:8000', served.address),
    )
    const { default: config } = (await import(pathToFileURL(path).href)) as { default: InlineConfig }
    expect(await proxied({ ...config, configFile: false, root: folder })).toBe(201)
  })
  test('examples/react-chat: so may the example', async () => {
    process.env.MILLRACE = served.address
    expect(await proxied({ configFile: `${root}examples/react-chat/vite.config.ts` })).toBe(201)
  })
})

describe('agents and configuration', () => {
  let mine: Author
  beforeAll(() => {
    mine = author()
  })
  afterAll(() => mine.close())

  test('the agents load', async () => {
    const graph = `import { tool } from '@langchain/core/tools'
      import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
      import { z } from '@millrace/server/adk'
      const search = tool(() => 'found', { name: 'search', description: 'Search', schema: z.object({}) })
      ${codeOf('docs/models.md 2')}
      const ask = async ({ messages }) => ({ messages: [await llm.invoke(messages)] })
      export const graph = new StateGraph(MessagesAnnotation).addNode('ask', ask).addEdge(START, 'ask').addEdge('ask', END).compile()`
    for (const [block, name] of Object.entries(agents))
      mine.write(`agents/${name}/agent.ts`, name === 'searcher' ? graph : codeOf(block))
    const listed = await loadedAgents(await mine.serve([], { MILLRACE_MODEL: 'offline' }).address)
    expect(listed.map(({ name, error = '' }) => name + error)).toEqual(Object.values(agents).toSorted())
  })

  test.each(configs)('%s: is a configuration', async (name) => {
    const path = script(`${configs.indexOf(name)}.config.mjs`, codeOf(name))
    expect(Object.keys((await loadConfigFile(path)).agents ?? {}).length).toBeGreaterThan(0)
  })
})

describe('programs', () => {
  test('packages/core/README.md: converts and folds a recording', async () => {
    const recording =
      'data: {"id":"1","author":"a","invocationId":"i","timestamp":1,"content":{"parts":[{"text":"Hi"}]}}\n\n'
    const chunks = `const chunks = new TextEncoder().encode(${JSON.stringify(recording)})\n`
    const path = script(
      'core.mjs',
      `${chunks}${codeOf('packages/core/README.md 2')}\nconsole.log(said.messages?.size ?? 'folded')`,
    )
    const text = await output(process.execPath, [path], folder, /never/)
    expect(text).toContain('TEXT_MESSAGE_CONTENT')
    expect(text).not.toContain('Error')
  })

  test('packages/server/README.md: serves the agents beside it', async () => {
    mkdirSync(join(folder, 'agents'), { recursive: true })
    const path = script('server.mjs', codeOf('packages/server/README.md 2').replace(/\b8000\b/, '0'))
    const text = await output(process.execPath, [path], folder, /http:\S+\s/)
    const answer = await fetch(`${/http:\S+/.exec(text)?.[0]}/agents`)
    expect(answer.status).toBe(200)
  })

  test.each(['2', '3', '4'])('docs/embedding.md %s: serves the agents beside it', async (number) => {
    const place = join(folder, `embedded-${number}`)
    mkdirSync(join(place, 'agents'), { recursive: true })
    const print = `
      if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
      console.log('http://127.0.0.1:' + server.address().port)`
    const code = codeOf(`docs/embedding.md ${number}`).replace(/\b3000\b/, '0')
    const path = script(`embedded-${number}.mjs`, code + print)
    const text = await output(process.execPath, [path], place, /http:\S+\s/)
    const answer = await fetch(`${/http:\S+/.exec(text)?.[0]}/mill/agents`)
    expect(answer.status).toBe(200)
  })

  test('docs/embedding.md 5: a route handler answers', async () => {
    const place = join(folder, 'route')
    mkdirSync(join(place, 'agents'), { recursive: true })
    script('route.mjs', codeOf('docs/embedding.md 5'))
    const call = `import { GET } from './route.mjs'
      const answer = await GET(new Request('http://localhost:3000/mill/agents'))
      console.log(answer.status, await answer.text())
      process.exit()`
    expect(await output(process.execPath, [script('call.mjs', call)], place, /never/)).toMatch(/^200 \{"agents"/)
  })

  test.each(commands.flatMap((name) => linesOf(name).map((line) => [name, line] as const)))('%s: %s', (_, line) => {
    const [command = ''] = line.split(/ +#| \| /)
    const args = command.split(/\s+/).slice(command.startsWith('npm start') ? 3 : 2)
    if (command.startsWith('npm install')) return expect(command).toContain('@google/adk-devtools')
    // The file of the example, so that the setting can be read.
    const tokens = script('tokens', 'ada=0123456789abcdef\n')
    const flags = args
      .filter((arg) => arg !== 'serve')
      .map((arg, i) => (args[i - 1] === '--token-file' ? tokens : arg.replace('…', `12345678${i}`)))
    expect(readSettings(flags, {})).not.toHaveProperty('message')
  })

  test.each(installs)('%s: installs packages that exist', (name) => {
    const { peerDependencies, devDependencies } = JSON.parse(readFileSync(`${root}packages/react/package.json`, 'utf8'))
    const known = [...Object.values(published), ...Object.keys({ ...peerDependencies, ...devDependencies })]
    const wanted = codeOf(name).trim().split(' ').slice(2)
    expect(wanted.filter((each) => !known.includes(each))).toEqual([])
  })
})
