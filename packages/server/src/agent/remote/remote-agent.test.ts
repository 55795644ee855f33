import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyState, type JsonObject, type Recorded, webHost } from '@millrace/core'
import { afterEach, describe, expect, test } from 'vitest'
import { exampleAgents } from '../../../../../test/kit/built-packages.ts'
import { ending, type Front, frontOf, frontWith, spoken } from '../../../../../test/kit/remote-front.ts'
import { scriptedAgent, speech, textOf } from '../../../../../test/kit/scripted-agent.ts'
import { testServer } from '../../../../../test/kit/server.ts'
import type { Agent } from '../agent.ts'
import { discoverAgents } from '../catalog.ts'
import { loadConfig } from '../config.ts'
import type { RemoteEntry } from './remote-entry.ts'

type Upstream = Awaited<ReturnType<typeof testServer>> & { readonly url: string; readonly posts: string[] }

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Our own server as the one elsewhere: it speaks both dialects. */
async function millraceWith(...agents: readonly Agent[]): Promise<Upstream> {
  const server = await testServer({ with: agents })
  const url = await server.app.listen({ port: 0, host: '127.0.0.1' })
  const posts: string[] = []
  server.app.server.on('request', ({ method, url: path = '' }: IncomingMessage) => {
    if (method === 'POST') posts.push(path)
  })
  closing.push(() => server.close(0))
  return { ...server, url, posts }
}

async function inFrontOf(entry: RemoteEntry): Promise<Front> {
  const front = await frontOf(entry)
  closing.push(() => front.close())
  return front
}

const entryOf = (dialect: RemoteEntry['dialect'], url: string, agent: string): RemoteEntry =>
  dialect === 'adk' ? { url, dialect, app: agent } : { url: `${url}/ag-ui/${agent}`, dialect }
const runPosts = (posts: readonly string[]): readonly string[] =>
  posts.filter((path) => path === '/run_sse' || path.startsWith('/ag-ui/'))
const stateOf = (rows: readonly Recorded[]): JsonObject =>
  rows.reduce<JsonObject>((state, { event }) => applyState(state, event), {})
/** A promise, and what settles it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

test('over AG-UI the agents inside another Millrace are known as they are there, not as steps', async () => {
  const team = scriptedAgent('team', function* () {
    yield { kind: 'node.started', node: 'team', agent: 'team' }
    yield { kind: 'node.started', node: 'searcher@7', agent: 'searcher', parent: 'team' }
    yield { kind: 'node.finished', node: 'searcher@7', status: 'ok' }
  })
  const front = await inFrontOf(entryOf('ag-ui', (await millraceWith(team)).url, 'team'))
  const rows = await front.run('s1', 'Search')
  expect(ending(rows)).toBe('done')
  const started = rows.flatMap(({ event }) => (event.kind === 'node.started' ? [event.node] : []))
  expect(started).toContain('searcher@7')
})

describe.each(['ag-ui', 'adk'] as const)('an agent on another Millrace, over %s', (dialect) => {
  const echo = scriptedAgent('echo', function* (input, { history, state }) {
    yield { kind: 'state', patch: [{ op: 'add', path: '/heard', value: textOf(input) }] }
    const before = history.filter(({ event }) => event.kind === 'run.started').length
    yield* speech('echo', `${before} before, ${state.heard ?? 'nothing'} heard`, { message: `m${before}` })
  })

  test('streams, records, and carries state', async () => {
    const { url } = await millraceWith(echo)
    const front = await inFrontOf(entryOf(dialect, url, 'echo'))
    const rows = await front.run('s1', 'tea')
    expect(ending(rows)).toBe('done')
    expect(spoken(rows)).toEqual(['0 before, nothing heard'])
    expect(rows.filter(({ event }) => event.kind === 'agent' && event.event.partial).length).toBeGreaterThan(2)
    expect(rows.filter(({ event }) => event.kind === 'run.started')).toHaveLength(1)
    expect(rows.find(({ event }) => event.kind === 'agent')?.event).toMatchObject({
      event: { author: dialect === 'adk' ? 'echo' : 'far' },
    })
    expect(stateOf(rows)).toEqual({ heard: 'tea' })
  })

  test('a second run has the history and the state of the first; another session has neither', async () => {
    const { url, posts } = await millraceWith(echo)
    const front = await inFrontOf(entryOf(dialect, url, 'echo'))
    await front.run('s1', 'tea')
    const second = await front.run('s1', 'milk')
    expect(spoken(second)).toEqual(['1 before, tea heard'])
    expect(second.some(({ event }) => event.kind === 'log')).toBe(false)
    expect(spoken(await front.run('s2', 'milk'))).toEqual(['0 before, nothing heard'])
    expect(runPosts(posts)).toHaveLength(3)
  })

  test('an interrupt reaches the client, and the answer reaches the server', async () => {
    const { agents } = discoverAgents(exampleAgents, {
      models: { tokensPerSecond: 0 },
    })
    const assistant = agents.get('assistant')
    if (assistant === undefined) throw new Error('no assistant')
    const front = await inFrontOf(entryOf(dialect, (await millraceWith(assistant)).url, 'assistant'))
    await front.run('s1', 'Add a proverb: One')
    for (const [confirmed, answer] of [
      [false, 'nothing was deleted'],
      [true, 'Done: 1 proverb deleted.'],
    ] as const) {
      const asked = await front.run('s1', 'Delete all proverbs')
      expect(ending(asked)).toBe('interrupted')
      const question = asked.find(({ event }) => event.kind === 'interrupt')?.event
      expect(question).toMatchObject({ message: 'Delete the only proverb?' })
      const interrupt = question?.kind === 'interrupt' ? question.id : ''
      const answered = await front.run('s1', { resume: [{ interrupt, status: 'resolved', payload: { confirmed } }] })
      expect(ending(answered)).toBe('done')
      expect(spoken(answered).join()).toContain(answer)
    }
  })

  test('cancelling here cancels there', async () => {
    const [speaking, stopped] = [gate(), gate()]
    const slow = scriptedAgent('slow', async function* (_input, { signal }) {
      yield* speech('slow', 'So it begins')
      signal.addEventListener('abort', stopped.open)
      speaking.open()
      await stopped.opened
    })
    const upstream = await millraceWith(slow)
    const front = await inFrontOf(entryOf(dialect, upstream.url, 'slow'))
    const run = await front.start('s1', 'go')
    await speaking.opened
    await front.cancel('s1', run)
    expect(ending(await front.wait('s1', run))).toMatch(/^cancelled/)
    await stopped.opened
    const there = (await upstream.log.read('s1', { after: 0 }))[0]?.run ?? ''
    expect(await upstream.engine.wait('s1', there)).toBe('cancelled')
  })

  test('after a cut it rejoins: nothing is lost, doubled or sent again', async () => {
    const going = gate()
    const slow = scriptedAgent('slow', async function* () {
      yield* speech('slow', 'Before the cut', { message: 'm1' })
      await going.opened
      yield* speech('slow', 'After the cut', { message: 'm2' })
    })
    const upstream = await millraceWith(slow)
    const front = await inFrontOf(entryOf(dialect, upstream.url, 'slow'))
    const run = await front.start('s1', 'go')
    await front.heard('s1')
    upstream.app.server.closeAllConnections()
    going.open()
    const rows = await front.wait('s1', run)
    expect(ending(rows)).toBe('done')
    expect(spoken(rows)).toEqual(['Before the cut', 'After the cut'])
    expect(runPosts(upstream.posts)).toHaveLength(1)
  })

  test('a server that does not come back fails the run; the text so far is kept', async () => {
    const slow = scriptedAgent('slow', async function* (_input, { signal }) {
      yield* speech('slow', 'So far so good')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const upstream = await millraceWith(slow)
    const { port } = upstream.app.server.address() as AddressInfo
    const front = await inFrontOf(entryOf(dialect, upstream.url, 'slow'))
    const run = await front.start('s1', 'go')
    await front.heard('s1')
    upstream.app.server.close()
    upstream.app.server.closeAllConnections()
    const rows = await front.wait('s1', run)
    expect(ending(rows)).toBe(
      `failed (remote-error: 127.0.0.1:${port}: gave up: no answer: fetch failed (ECONNREFUSED))`,
    )
    expect(runPosts(upstream.posts)).toHaveLength(1)
  })
})

describe('a remote agent of millrace.config.ts', () => {
  test('is listed and described beside the folder’s own, and runs', async () => {
    const echo = scriptedAgent('echo', (input) => speech('echo', `You said ${textOf(input)}`))
    const { url } = await millraceWith(echo)
    const folder = await mkdtemp(join(tmpdir(), 'millrace-remote-'))
    closing.push(() => rm(folder, { recursive: true }))
    await writeFile(
      join(folder, 'millrace.config.ts'),
      `import { defineConfig } from '@millrace/server'
       const base: string = '${url}'
       export default defineConfig({
         agents: {
           far: { url: base + '/ag-ui/echo', dialect: 'ag-ui', headers: { authorization: 'Bearer s3cret' }, title: 'Far', description: 'Says it again', examples: ['Hello'] },
           plain: { url: base, dialect: 'adk', app: 'echo' },
         },
       })`,
    )
    const { agents } = discoverAgents(undefined, {
      config: await loadConfig(folder),
      host: webHost(globalThis),
    })
    const front = await frontWith([...agents.values()])
    closing.push(() => front.close())
    const listed = await front.get('/agents')
    expect((listed as { agents: unknown }).agents).toMatchObject([
      {
        name: 'far',
        title: 'Far',
        description: 'Says it again',
        engine: 'remote',
        examples: ['Hello'],
        resumable: false,
      },
      { name: 'plain', description: `Runs on ${new URL(url).host}, over ADK`, engine: 'remote', examples: [] },
    ])
    expect(JSON.stringify(listed)).not.toContain('s3cret')
    expect(spoken(await front.run('s1', 'hello'))).toEqual(['You said hello'])
  })
})

describe('an ADK server that has forgotten a session', () => {
  test('gets the state again, and the log notes what is missing', async () => {
    const echo = scriptedAgent('echo', function* (input, { state }) {
      yield { kind: 'state', patch: [{ op: 'add', path: '/heard', value: textOf(input) }] }
      yield* speech('echo', `${state.heard ?? 'nothing'} heard`)
    })
    const upstream = await millraceWith(echo)
    const front = await inFrontOf(entryOf('adk', upstream.url, 'echo'))
    await front.run('s1', 'tea')
    await upstream.log.remove('s1')
    const rows = await front.run('s1', 'milk')
    expect(spoken(rows)).toEqual(['tea heard'])
    expect(rows.find(({ event }) => event.kind === 'log')?.event).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('did not know this session'),
    })
  })
})
