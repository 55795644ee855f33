import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adkAgent, discoverAgents, type MemoryUse } from '@millrace/server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

const echo = scriptedAgent('echo', () => speech('echo', 'hello'))
const local = { host: 'localhost' }

describe('an agent that could not be loaded', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-sick-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('for want of files is loaded by the next listing and run, without an edit or a restart', async () => {
    await mkdir(join(folder, 'shy'))
    // As a load fails when the process has no file left: once, for a reason that is not in the file.
    const fails = `if ((globalThis.sick = (globalThis.sick ?? 0) + 1) < 2) throw new Error('EMFILE: too many open files, open x')`
    const agent = `import { LlmAgent } from '@google/adk'\n${fails}\nexport const rootAgent = new LlmAgent({ name: 'shy', model: 'offline' })\n`
    await writeFile(join(folder, 'shy', 'agent.ts'), agent)
    const catalog = discoverAgents(folder)
    const server = await testServer({ agents: catalog })
    const input = { messages: [{ id: '1', role: 'user', content: { parts: [{ text: 'hi' }] } }] }
    const outcome = async (id: string) => {
      const started = await server.app.inject({
        method: 'POST',
        url: `/sessions/${id}/runs`,
        headers: local,
        payload: { agent: 'shy', input },
      })
      return server.engine.wait(id, started.json().run)
    }
    expect(await outcome('one')).toBe('failed')
    expect(await outcome('two')).toBe('done')
    const { agents } = (await server.app.inject({ url: '/agents', headers: local })).json()
    expect(agents[0].error).toBe(undefined)
    await server.close(0)
    await catalog.close()
  })

  test('given in code is asked for again', async () => {
    let asked = 0
    const agent = adkAgent('late', async () => {
      asked += 1
      if (asked === 1) throw new Error('EMFILE: too many open files')
      const { LlmAgent } = await import('@google/adk')
      return new LlmAgent({ name: 'late', model: 'offline' })
    })
    expect((await agent.describe()).error).toContain('EMFILE')
    expect((await agent.describe()).error).toBe(undefined)
  })
})

describe('when memory is short', () => {
  test('new work is refused before the heap ends, streams go on, and work is taken again', async () => {
    let use: MemoryUse = { used: 10, most: 100 }
    let now = 0
    let say = (): void => {}
    const said = new Promise<void>((resolve) => {
      say = resolve
    })
    const slow = scriptedAgent('slow', async function* () {
      yield* speech('slow', 'first words', { message: 'a' })
      await said
      yield* speech('slow', 'last words', { message: 'b' })
    })
    const server = await testServer({
      with: [slow, echo],
      fallback: 'slow',
      memory: () => use,
      now: () => (now += 1_000),
    })
    const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    const ask = (method: string, path: string, body?: unknown) =>
      fetch(`${address}${path}`, {
        method,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const run = (threadId: string) => ({ threadId, runId: 'r', messages: [{ id: '1', role: 'user', content: 'hi' }] })
    const stream = await ask('POST', '/ag-ui/slow', run('live'))
    use = { used: 95, most: 100 }
    const refused = [
      await ask('POST', '/ag-ui/echo', run('other')),
      await ask('POST', '/sessions', {}),
      await ask('GET', '/sessions/live/state'),
      await ask('GET', '/sessions/live/events'),
    ]
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503])
    for (const answer of refused) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask('GET', '/health')).status).toBe(200)
    const ready = await ask('GET', '/ready')
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', reason: 'memory is short' }])
    say()
    expect(await stream.text()).toContain('last')
    // A little less is not enough: else every other request would be refused.
    use = { used: 87, most: 100 }
    expect((await ask('GET', '/sessions/live/state')).status).toBe(503)
    use = { used: 50, most: 100 }
    expect((await ask('GET', '/sessions/live/state')).status).toBe(200)
    expect((await ask('GET', '/ready')).status).toBe(200)
    await server.close(0)
  })
})

describe('the work of a client that left', () => {
  test('is not begun', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let isAsked = (): void => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const runs: string[] = []
    const counting = scriptedAgent('counting', function* (_input, { run }) {
      runs.push(run)
      yield* speech('counting', 'hello')
    })
    const server = await testServer({ with: [counting], fallback: 'counting' })
    await server.log.create({ id: 's', user: 'user', agent: 'counting' })
    await server.log.append('s', [{ run: '', event: { kind: 'log', level: 'info', message: 'x' } }])
    // Reading the session takes until the client has left.
    const { facts } = server.log
    Object.assign(server.log, {
      facts: async (...args: Parameters<typeof facts>) => {
        isAsked()
        await held
        return facts(...args)
      },
    })
    const address = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' }))
    const leaves: (() => Promise<void>)[] = []
    const send = (run: string): void => {
      const body = JSON.stringify({ threadId: 's', runId: run, messages: [{ id: run, role: 'user', content: run }] })
      const socket = connect(Number(address.port), address.hostname)
      socket.on('error', () => undefined)
      socket.write(
        `POST /ag-ui/counting HTTP/1.1\r\nhost: ${address.host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      leaves.push(async () => {
        const closed = new Promise((resolve) => server.app.server.once('close-seen', resolve))
        socket.destroy()
        await closed
      })
    }
    server.app.server.on('connection', (socket) => socket.once('close', () => server.app.server.emit('close-seen')))
    send('left')
    await asked
    for (const leave of leaves) await leave()
    release()
    await server.close(1_000)
    expect(runs).toEqual([])
  })
})
