import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, connect as dial } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { HttpAgent } from '@ag-ui/client'
import { detectDialect } from '@millrace/core'
import { wireText } from '@millrace/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { endOf, runCommand, servingCommand, startCommand } from '../kit/command.ts'
import { loadVectors } from '../kit/vectors.ts'

/** The commands that speak HTTP, as processes, before one Millrace server and small servers of this file. */
const folder = mkdtempSync(join(tmpdir(), 'millrace-streams-'))
const servers: { close(): unknown }[] = []
let millrace: Served
beforeAll(async () => {
  mkdirSync(join(folder, 'agents'), { recursive: true })
  millrace = await serveBuilt(['--port', '0', '--data-dir', join(folder, 'data'), ...oneProcess], {
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0',
  })
})
afterAll(async () => {
  for (const server of servers) server.close()
  await millrace.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function listen(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const vector = (dialect: string, name: string): string => {
  const found = loadVectors(dialect).find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no vector ${dialect}/${name}`)
  return wireText(found.wire)
}
const adkStream = vector('adk', 'documented-recovery')
const agUiStream = vector('ag-ui', 'documented-response-stream')
const saved = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

async function session(id: string): Promise<void> {
  const answer = await fetch(`${millrace.address}/sessions/import?id=${id}`, {
    method: 'POST',
    headers: { 'content-type': 'text/event-stream' },
    body: adkStream,
  })
  expect(answer.status).toBe(201)
}

describe('tail', () => {
  beforeAll(() => session('told'))
  const server = (): readonly string[] => ['--server', millrace.address, '--no-follow']

  test('a session is shown to people, as events and as frames', async () => {
    const [human, jsonl, wire, later, painted] = await Promise.all([
      runCommand(['tail', 'told', ...server()]),
      runCommand(['tail', 'told', '--jsonl', '--no-follow'], { env: { MILLRACE_SERVER: millrace.address } }),
      runCommand(['tail', 'told', '--wire', '--from', 'ag-ui', ...server()]),
      runCommand(['tail', 'told', '--jsonl', '--after', '3', ...server()]),
      runCommand(['tail', 'told', ...server()], { tty: true }),
    ])
    expect(human).toMatchObject({ code: 0, err: '' })
    expect(human.out).toMatch(/^ {2}▶ .*\n/)
    expect(human.out).toMatch(/→ \w+ \{/)
    expect(human.out).toMatch(/■ done in /)
    const rows = jsonl.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number })
    expect(rows[0]?.seq).toBe(1)
    expect(detectDialect(wire.out)).toBe('ag-ui')
    expect(wire.out).toContain('\nid: ')
    expect(JSON.parse(later.out.split('\n')[0] ?? '')).toMatchObject({ seq: 4 })
    expect(human.out).not.toContain('\u001b[')
    expect(painted.out).toContain('\u001b[')
  })

  test('a cut is healed: no event is missing and none comes twice', async () => {
    const { port } = new URL(millrace.address)
    let streams = 0
    // The first stream breaks off in the middle.
    const cutting = createSocketServer((client) => {
      let first = false
      client.on('data', (bytes) => {
        if (bytes.includes('/events')) first = streams++ === 0
      })
      const upstream = dial(Number(port), '127.0.0.1')
      client.on('error', () => {})
      upstream.on('error', () => {})
      client.pipe(upstream)
      let passed = 0
      upstream.on('data', (bytes) => {
        client.write(first ? bytes.subarray(0, Math.max(0, 2500 - passed)) : bytes)
        passed += bytes.length
        if (first && passed >= 2500) {
          client.destroy()
          upstream.destroy()
        }
      })
      upstream.on('end', () => client.end())
    }).listen(0, '127.0.0.1')
    servers.push(cutting)
    await once(cutting, 'listening')
    const through = `http://127.0.0.1:${(cutting.address() as AddressInfo).port}`
    const [whole, healed] = await Promise.all([
      runCommand(['tail', 'told', '--jsonl', ...server()]),
      runCommand(['tail', 'told', '--jsonl', '--no-follow', '--server', through]),
    ])
    expect(streams).toBeGreaterThan(1)
    expect(healed.out).toBe(whole.out)
    expect(healed.err).toContain('tries again (1)')
  })

  test('a foreign stream is followed by POST, and its dialect is found', async () => {
    let body = ''
    const url = await listen((request, response) => {
      request.on('data', (text) => {
        body += text
      })
      request.on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(agUiStream))
    })
    const { code, out } = await runCommand(['tail', url, '--data', '{"threadId":"t"}'])
    expect([code, body]).toEqual([0, '{"threadId":"t"}'])
    expect(out).toContain('■ done')
    const wire = await runCommand(['tail', url, '--data', '{}', '--wire'])
    expect(wire.out).toBe(agUiStream)
  })

  test('a long catch-up is counted on the terminal while the events go elsewhere', async () => {
    const told = Array.from({ length: 2500 }, () => ({ kind: 'log', level: 'info', message: 'x' }))
    const started = { kind: 'run.started', agent: 'a', input: { messages: [] } }
    const events = [started, ...told, { kind: 'run.finished', outcome: 'done' }]
    const rows = events.map((event, i) => ({ seq: i + 11, at: 1, run: 'r', event }))
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(rows.map((row) => `id: ${row.seq}\ndata: ${JSON.stringify(row)}\n\n`).join(''))
    })
    const watched = ['tail', url, '--from', 'millrace', '--jsonl']
    const [shown, silent] = await Promise.all([runCommand(watched, { tty: ['stderr'] }), runCommand(watched)])
    expect([shown.out, shown.code]).toEqual([silent.out, silent.code])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes that colours are made of
    const bare = shown.err.replace(/\u001b\[\d*m/g, '')
    const line = '\r\u001b[K'
    expect(bare).toBe(`${line}1,000 events, at number 1010${line}2,000 events, at number 2010${line}`)
    expect(silent.err).toBe('')
  })

  test('what cannot be followed is one sentence', async () => {
    const refusing = await listen((_request, response) => response.writeHead(403).end('{"detail":"no entry"}'))
    const [dead, refused, both, noJson] = await Promise.all([
      runCommand(['tail', 'http://127.0.0.1:2/x', '--data', '{}']),
      runCommand(['tail', refusing]),
      runCommand(['tail', 'x', '--wire', '--jsonl']),
      runCommand(['tail', refusing, '--data', '{no']),
    ])
    expect(dead).toMatchObject({ code: 1, err: expect.stringMatching(/^millrace: .*no answer: .*ECONNREFUSED.*\n$/) })
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('refused: status 403: no entry') })
    expect(both).toMatchObject({ code: 2, err: 'millrace: --wire and --jsonl exclude each other\n' })
    expect(noJson).toMatchObject({ code: 2, err: expect.stringContaining('--data is not JSON') })
  })

  test('Ctrl-C leaves a session that is followed', async () => {
    const child = startCommand(['tail', 'told', '--jsonl', '--server', millrace.address])
    const ended = endOf(child)
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })
})

describe('replay', () => {
  test('the official AG-UI client, and clients of ADK, Studio and plan, are served one recording', async () => {
    const replay = await servingCommand(['replay', saved('run.sse', adkStream), '--port', '0', '--speed', '0'])
    const agent = new HttpAgent({ url: `${replay.address}/ag-ui/x`, threadId: 'mine' })
    agent.addMessage({ id: 'u', role: 'user', content: 'hello' })
    const runs: string[] = []
    await agent.runAgent(
      { runId: 'my-run' },
      { onRunStartedEvent: ({ event }) => void runs.push(`${event.threadId} ${event.runId}`) },
    )
    expect(runs).toEqual(['mine my-run'])
    expect(agent.messages.length).toBeGreaterThan(1)
    const post = async (path: string) =>
      (
        await fetch(replay.address + path, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).text()
    expect(detectDialect(await post('/run_sse'))).toBe('adk')
    expect(detectDialect(await post('/sessions/s/chat'))).toBe('plan')
    expect(detectDialect(await (await fetch(`${replay.address}/api/projects/x/stream?input=hi`)).text())).toBe('studio')
    expect(JSON.parse(await post('/run')).length).toBeGreaterThan(2)
    expect(JSON.parse(await post('/apps/a/users/u/sessions/s'))).toMatchObject({ id: 's', appName: 'a', userId: 'u' })
    const { headers, status } = await fetch(`${replay.address}/nowhere`)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([404, '*'])
    expect(await replay.stop()).toMatchObject({ code: 0, err: '' })
  })

  test('for a machine: the address, and each run that a client got', async () => {
    const file = saved('json.sse', adkStream)
    const replay = await servingCommand(['replay', file, '--port', '0', '--speed', '0', '--json'])
    await (await fetch(`${replay.address}/run_sse`, { method: 'POST', body: '{}' })).text()
    const { code, out } = await replay.stop()
    expect(code).toBe(0)
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual([
      { address: replay.address, file, dialect: 'adk', runs: 1, duration: expect.any(Number) },
      { method: 'POST', path: '/run_sse', run: 1, dialect: 'adk' },
    ])
  })

  test('the original timing is kept, and scaled by --speed', async () => {
    const rows = [
      { seq: 1, at: 1000, run: 'r', event: { kind: 'run.started', agent: 'a', input: { messages: [] } } },
      { seq: 2, at: 1400, run: 'r', event: { kind: 'log', level: 'info', message: 'x' } },
      { seq: 3, at: 1400, run: 'r', event: { kind: 'run.finished', outcome: 'done' } },
    ]
    const file = saved('timed.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const time = async (speed: string): Promise<number> => {
      const replay = await servingCommand(['replay', file, '--port', '0', '--speed', speed])
      const begun = performance.now()
      const answer = await fetch(`${replay.address}/`, { method: 'POST' })
      expect(detectDialect(await answer.text())).toBe('ag-ui')
      const took = performance.now() - begun
      await replay.stop()
      return took
    }
    expect(await time('1')).toBeGreaterThan(395)
    expect(await time('4')).toBeGreaterThan(95)
  })

  test('a port that is taken and a file without runs are one sentence', async () => {
    const { port } = new URL(millrace.address)
    const file = saved('run.sse', adkStream)
    expect(await runCommand(['replay', file, '--port', port])).toMatchObject({
      code: 1,
      err: `millrace: port ${port} on 127.0.0.1 is in use; choose another with --port\n`,
    })
    expect(await runCommand(['replay', join(folder, 'none')])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no file'),
    })
    expect(await runCommand(['replay', file, '--speed', 'fast'])).toMatchObject({ code: 2 })
  })
})

describe('tap', () => {
  test('the official AG-UI client notices nothing, and the session is on the server and on its page', async () => {
    const upstream = millrace.address
    const tap = await servingCommand([
      'tap',
      upstream,
      '--dialect',
      'ag-ui',
      '--port',
      '0',
      '--server',
      upstream,
      '--out',
      join(folder, 'taped'),
    ])
    const agent = new HttpAgent({ url: `${tap.address}/ag-ui/assistant`, threadId: 'tapped' })
    agent.addMessage({ id: 'u', role: 'user', content: 'What is the weather in Lisbon?' })
    await agent.runAgent()
    const direct = await (await fetch(`${upstream}/sessions/tapped/events?dialect=ag-ui&until=idle`)).text()
    const passed = await (await fetch(`${tap.address}/sessions/tapped/events?dialect=ag-ui&until=idle`)).text()
    expect(passed).toBe(direct)
    const ended = await tap.stop()
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(ended.out).toContain('2 streams, no problems')
    const [, id = ''] = /\/s\/(tap-[\w-]+)/.exec(ended.out) ?? []
    const kept = await (await fetch(`${upstream}/sessions/${id}/views/transcript`)).text()
    expect(kept).toContain('What is the weather in Lisbon?')
    expect((await fetch(`${upstream}/s/${id}`)).status).toBe(200)
    expect(readdirSync(join(folder, 'taped')).length).toBe(2)
    // The recording says what the stream said.
    const [file = ''] = readdirSync(join(folder, 'taped'))
    const compared = await runCommand(['diff', join(folder, 'taped', file), saved('direct.sse', direct), '--json'])
    expect(JSON.parse(compared.out).divergence).toBeUndefined()
  })

  test('an ADK server: the bytes are its own, a database gets the sessions, faults and refusals are reported', async () => {
    const broken = adkStream.replace('data: ', 'data: {half\n\ndata: ')
    const chunks = [broken.slice(0, 100), broken.slice(100, 101), broken.slice(101)]
    const url = await listen((request, response) => {
      request.resume().on('end', () => {
        if (request.url === '/json') return void response.writeHead(418, { 'x-own': 'yes' }).end('{"a":1}')
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const chunk of chunks) response.write(chunk)
        response.end()
      })
    })
    const data = join(folder, 'tap-data')
    const tap = await servingCommand(['tap', url, '--dialect', 'adk', '--port', '0', '--data-dir', data, '--json'])
    const body = JSON.stringify({ appName: 'a', newMessage: { role: 'user', parts: [{ text: 'hello tap' }] } })
    const answer = await fetch(`${tap.address}/run_sse`, { method: 'POST', body })
    expect(await answer.text()).toBe(broken)
    const plain = await fetch(`${tap.address}/json`)
    expect([plain.status, plain.headers.get('x-own'), await plain.text()]).toEqual([418, 'yes', '{"a":1}'])
    const { out, code } = await tap.stop()
    expect(code).toBe(0)
    const [, line = '{}'] = out.trimEnd().split('\n')
    expect(JSON.parse(line)).toMatchObject({
      path: '/run_sse',
      status: 200,
      bytes: Buffer.byteLength(broken),
      warnings: 1,
    })
    const dead = await servingCommand(['tap', 'http://127.0.0.1:2', '--port', '0'])
    const unreachable = await fetch(`${dead.address}/x`)
    expect([unreachable.status, await unreachable.text()]).toEqual([502, expect.stringContaining('cannot be reached')])
    const { code: failed, err } = await dead.stop()
    expect(failed).toBe(1)
    expect(err).toBe(
      'millrace: http://127.0.0.1:2 cannot be reached (ECONNREFUSED); clients are answered with 502\n' +
        'millrace: 1 request not answered by http://127.0.0.1:2\n',
    )
    const shown = await serveBuilt(['--port', '0', '--data-dir', data, ...oneProcess])
    const { sessions } = (await (await fetch(`${shown.address}/sessions`)).json()) as { sessions: { id: string }[] }
    expect(sessions).toHaveLength(1)
    const log = await (await fetch(`${shown.address}/sessions/${sessions[0]?.id}/log`)).text()
    expect(log).toContain('hello tap')
    await shown.kill()
  })
})

describe('tap before a server that does not behave', () => {
  test('a packed stream is read, a body that breaks off breaks off, and a client that leaves is no fault of the server', async () => {
    const packed = gzipSync(adkStream)
    const url = await listen((request, response) => {
      if (request.url === '/packed')
        return void response
          .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
          .end(packed)
      if (request.url === '/half') {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
        return void response.write('{"a":', () => response.destroy())
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(adkStream.slice(0, 400))
    })
    const tap = await servingCommand(['tap', url, '--dialect', 'adk', '--port', '0', '--json'])
    expect(await (await fetch(`${tap.address}/packed`)).text()).toBe(adkStream)
    const half = await fetch(`${tap.address}/half`)
    await expect(half.text()).rejects.toThrow()
    const leave = new AbortController()
    const endless = await fetch(`${tap.address}/endless`, { signal: leave.signal })
    await endless.body?.getReader().read()
    leave.abort()
    const { out, code, err } = await tap.stop()
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toEqual([
      { address: tap.address, url },
      expect.objectContaining({ path: '/packed', events: 5, errors: 0, early: false }),
      expect.objectContaining({ path: '/endless', errors: 0, early: true }),
    ])
    expect([code, err]).toEqual([0, ''])
  })
})

describe('diff', () => {
  test('equal runs, also in two dialects; a changed one is named', async () => {
    const file = saved('a.sse', adkStream)
    const other = saved('b.sse', (await runCommand(['convert', '--to', 'ag-ui', file])).out)
    const rows = (await runCommand(['convert', '--to', 'millrace', '--lines', file])).out
    const changed = saved('c.jsonl', rows.replace(/"args":\{/, '"args":{"extra":1,'))
    const [same, across, differs, json] = await Promise.all([
      runCommand(['diff', file, file]),
      runCommand(['diff', file, other, '--json']),
      runCommand(['diff', file, changed]),
      runCommand(['diff', file, changed, '--json']),
    ])
    expect(same).toMatchObject({ code: 0, err: '', out: expect.stringContaining('The runs are equal') })
    expect(JSON.parse(across.out).divergence).toBeUndefined()
    expect(differs.code).toBe(1)
    expect(differs.out).toMatch(/First difference at step \d+: the call of \w+ /)
    expect(differs.out).toMatch(/\n {2}- {2}call .*\n {2}\+ {2}call .*"extra":1/)
    expect(JSON.parse(json.out)).toMatchObject({
      equal: false,
      divergence: { a: { kind: 'call' }, b: { kind: 'call' } },
    })
  })

  test('a missing file is one sentence', async () => {
    expect(await runCommand(['diff', 'none', 'none'])).toMatchObject({
      code: 1,
      err: 'millrace: there is no file none\n',
    })
    expect(await runCommand(['diff', 'none'])).toMatchObject({ code: 2 })
  })
})

describe('check of a server', () => {
  test('Millrace behaves; a careless server does not', async () => {
    const good = await runCommand([
      'check',
      `${millrace.address}/ag-ui/assistant`,
      '--data',
      JSON.stringify({
        threadId: 'checked',
        runId: 'r',
        messages: [{ id: 'u', role: 'user', content: 'hi' }],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {},
      }),
    ])
    expect(good).toMatchObject({ code: 0, err: '' })
    expect(good.out.match(/^ {2}ok {2}probe: /gm)).toHaveLength(4)
    const careless = await listen((request, response) => {
      request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(agUiStream))
    })
    const bad = await runCommand(['check', careless, '--data', '{}', '--json'])
    expect(bad.code).toBe(1)
    const { probes } = JSON.parse(bad.out) as { probes: { name: string; ok: boolean }[] }
    expect(probes.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['bad body', 'missing fields'])
  })
})
