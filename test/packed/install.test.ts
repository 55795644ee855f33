import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin } from '../../scripts/install.mjs'
import { packedFolder, tarballs } from '../../scripts/pack.mjs'
import { packedMain } from '../kit/built-packages.ts'
import { type Served, serveCommand } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'

/**
 * What a stranger gets: the tarballs, installed by npm in a folder that has no other packages above it. To install the
 * command, with ADK and all, takes a minute of CPU: the small form has its tarballs unpacked, among our own packages.
 */
const root = mkdtempSync(join(tmpdir(), 'millrace-stranger-'))
const home = full ? join(root, 'command') : join(packedFolder, `stranger-${process.pid}`)
const main = full ? join(home, 'node_modules/.bin/millrace') : packedMain
const run = promisify(execFile)
/** It has no types of its own; npm and fastify bring it. */
const { satisfies } = createRequire(import.meta.url)('semver') as { satisfies(version: string, range: string): boolean }
let served: Served | undefined
afterAll(async () => {
  await served?.kill()
  for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true })
})

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const inLibrary = (path: string): string => join(root, 'library', path)

/** The packages of others come from npm's cache, which the workspace's own install has filled. */
async function install(folder: string, names: readonly string[]): Promise<void> {
  const files = readdirSync(tarballs).filter((file) => names.some((name) => new RegExp(`^${name}-\\d`).test(file)))
  expect(files).toHaveLength(names.length)
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', ...flags, ...files.map((file) => join(tarballs, file))], { cwd: join(root, folder) })
}

/** The packages below a folder that do not take Node 20.19, by their own word. */
function tooNew(folder: string): readonly string[] {
  const manifests = readdirSync(join(root, folder, 'node_modules'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(^|\/node_modules\/)(@[^/]+\/)?[^@/][^/]*\/package\.json$/.test(file),
  )
  expect(manifests.length).toBeGreaterThan(50)
  return manifests.flatMap((file) => {
    const { name, version, engines } = JSON.parse(readFileSync(join(root, folder, 'node_modules', file), 'utf8'))
    return engines?.node === undefined || satisfies('20.19.0', engines.node) ? [] : [`${name}@${version}`]
  })
}

async function ask(address: string, agent: string, session: string): Promise<string> {
  const messages = [{ id: '1', role: 'user', content: 'Hello' }]
  const answer = await fetch(`${address}/ag-ui/${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ threadId: session, runId: `run of ${session}`, messages }),
  })
  return answer.text()
}

beforeAll(async () => {
  // The folder of the command is one that `millrace init` made.
  await run(process.execPath, [packedMain, 'init', basename(home)], { cwd: dirname(home), env: {} })
  write(inLibrary('package.json'), '{ "private": true, "type": "module" }')
  // Millrace's own packages come from the tarballs and not from a registry.
  const { dependencies, ...manifest } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const others = Object.entries(dependencies).filter(([name]) => !name.includes('millrace'))
  write(join(home, 'package.json'), JSON.stringify({ ...manifest, dependencies: Object.fromEntries(others) }))
  // npm puts the command's own zod where its agents find it; ours has another one in that place.
  const zod = join(packedFolder, 'node_modules/millrace/node_modules/zod')
  if (!full && existsSync(zod)) {
    mkdirSync(join(home, 'node_modules'))
    symlinkSync(zod, join(home, 'node_modules/zod'))
  }
  await install('library', ['millrace-core', 'millrace-server'])
  if (full) await install('command', ['millrace', 'millrace-core', 'millrace-server'])
  // A hang limit: on a busy machine npm alone takes four minutes.
}, 900_000)

describe('the command', () => {
  const start = (folder: string): Promise<Served> =>
    serveCommand(process.execPath, [main, '--port', '0', '--data-dir', join(root, 'data')], {
      cwd: join(home, folder),
      env: { PATH: process.env.PATH ?? '', MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' },
    })

  if (full)
    test('installs nothing that needs a newer Node than it says itself', () => expect(tooNew('command')).toEqual([]))

  test('what millrace init made passes its tests and compiles', async () => {
    const compiler = full ? join(home, 'node_modules/.bin/tsc') : bin('tsc')
    const [tested, compiled] = await Promise.all(
      [
        [main, 'test'],
        [compiler, '--noEmit'],
      ].map((command) => run(process.execPath, command, { cwd: home })),
    )
    expect(tested?.stdout).toContain('2 passed')
    expect(compiled?.stdout).toBe('')
  })

  test('serves the example agents and the page, from nothing but its package', async () => {
    mkdirSync(join(home, 'elsewhere'))
    served = await start('elsewhere')
    const agents = await loadedAgents(served.address)
    expect(agents.map(({ name }) => name)).toEqual(['assistant', 'planner', 'recovery', 'research'])
    expect(agents.flatMap(({ error }) => error ?? [])).toEqual([])
    for (const { name } of agents) expect(await ask(served.address, name, name)).toContain('RUN_FINISHED')
    expect(await (await fetch(served.address)).text()).toContain('<div id="root">')
    await served.kill()
  })

  test('finds ./agents, whose files need no packages of their own', async () => {
    const [code = ''] = blocks('packages/cli/README.md', 'ts')
    write(join(home, 'own/agents/greeter/agent.ts'), code.replace("'gemini-2.5-flash'", "'offline'"))
    served = await start('own')
    expect(await loadedAgents(served.address)).toMatchObject([{ name: 'greeter', engine: 'adk' }])
    expect(await ask(served.address, 'greeter', 'g')).toContain('RUN_FINISHED')
    await served.kill()
  })
})

describe('the server as a library', () => {
  test('installs nothing that needs a newer Node, and no library of agents or models', () => {
    expect(tooNew('library')).toEqual([])
    const scopes = ['@google', '@langchain', 'openai', '@anthropic-ai', '@modelcontextprotocol']
    expect(readdirSync(join(root, 'library/node_modules')).filter((name) => scopes.includes(name))).toEqual([])
  })

  test('runs the program of its README, and asks for the packages that agents need by name', async () => {
    const [code = ''] = blocks('packages/server/README.md', 'js')
    const program = code.replace('port: 8000', 'port: 0').replace('console.log(', "console.log('listening on ' + ")
    write(inLibrary('server.js'), program)
    write(
      inLibrary('agents/adk/agent.ts'),
      "import { LlmAgent } from '@google/adk'\nexport const rootAgent = new LlmAgent({ name: 'adk' })\n",
    )
    write(
      inLibrary('agents/graph/agent.js'),
      "import { StateGraph } from '@langchain/langgraph'\nexport const graph = new StateGraph({})\n",
    )
    write(
      inLibrary('agents/chat/agent.ts'),
      "import { chatModel } from '@millrace/server/langgraph'\nexport const graph = chatModel()\n",
    )
    served = await serveCommand(process.execPath, ['server.js'], { cwd: join(root, 'library'), env: {} })
    const errors = (await loadedAgents(served.address)).map(({ name, error }) => [name, error])
    const needs = (wanted: string) =>
      expect.stringContaining(`is not installed, and this agent needs it. Run: npm install "${wanted}`)
    expect(errors).toEqual([
      ['adk', needs('@google/adk@~2.0.0')],
      ['chat', needs('@langchain/core@^1')],
      ['graph', needs('@langchain/langgraph@^1')],
    ])
    expect(await ask(served.address, 'adk', 'a')).toContain('@google/adk is not installed')
    await served.kill()
  })
})

/** The code blocks of a page in a language. */
function blocks(page: string, language: string): readonly string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code)
}
