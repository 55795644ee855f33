import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedMain } from '../kit/built-packages.ts'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { type Ended, runCommand } from '../kit/command.ts'

// What a newcomer reads: every help has examples, and every mistake is answered by a sentence that
// says what to do.

const folder = mkdtempSync(join(tmpdir(), 'millrace-words-'))
let served: Served
beforeAll(async () => {
  served = await serveBuilt(['--port', '0', '--data-dir', join(folder, 'data'), ...oneProcess], {
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0',
  })
})
afterAll(async () => {
  await served.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** In processes of their own: here every command is seen as a shell sees it, with its exit code. */
const millrace = (...args: readonly string[]): Promise<Ended> => runCommand(args, { cwd: folder, alone: true })
const onServer = (...args: readonly string[]): Promise<Ended> => millrace(...args, '--server', served.address)

test('the help of every command says what it does, with examples and without the words of its parser', async () => {
  const top = 'init serve run test record tail tap replay convert check diff sessions doctor move delete-user'.split(
    ' ',
  )
  const inner = ['ls', 'export', 'import', 'rm', 'search'].map((name) => `sessions ${name}`)
  const helps = await Promise.all([...top, ...inner].map((name) => millrace(...name.split(' '), '--help')))
  helps.forEach(({ code, out }, i) => {
    const name = [...top, ...inner][i] ?? ''
    expect([code, out], name).toEqual([0, expect.stringContaining(`\nExamples:\n  millrace ${name}`)])
    expect(out, name).not.toContain('default: [')
    // Commander prints the usage, an empty line, and what the command does.
    if (name !== 'serve') expect(out.split('\n')[2], name).toMatch(/^[A-Z]/)
  })
})

test('a wrong argument is a sentence that names the help of its command', async () => {
  const long = 'x'.repeat(100_000)
  const [flag, missing, unknown, choice, words, huge] = await Promise.all([
    millrace('serve', '--bogus'),
    millrace('sessions', 'export'),
    millrace('frobnicate'),
    millrace('sessions', 'ls', '--status', 'bogus'),
    millrace('sessions', 'search', ' '),
    millrace('run', long, 'hi', '--agents', folder),
  ])
  expect([flag, missing, unknown, choice, words].map(({ code }) => code)).toEqual([2, 2, 2, 2, 2])
  expect(flag.err).toBe("millrace: unknown option '--bogus'; see millrace serve --help\n")
  expect(missing.err).toBe("millrace: missing required argument 'session'\nSee millrace sessions export --help.\n")
  expect(unknown.err).toBe("millrace: unknown command 'frobnicate'\nSee millrace --help.\n")
  expect(choice.err).toContain(
    'Allowed choices are not-started, running, waiting, done, failed, cancelled, cut-off, idle, interrupted.',
  )
  expect(words.err).toBe('millrace: say what to search for: millrace sessions search "words"\n')
  expect(huge).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^millrace: there is no agent x{100}…; known: none\n$/),
  })
})

test('a session that does not exist and a server that does not run are named at once', async () => {
  const dead = 'http://127.0.0.1:2'
  const [tail, exported, listed] = await Promise.all([
    onServer('tail', 'nosuch', '--no-follow'),
    onServer('sessions', 'export', 'nosuch'),
    millrace('tail', 'any', '--server', dead),
  ])
  expect([tail.code, exported.code, listed.code]).toEqual([1, 1, 1])
  expect([tail.err, exported.err]).toEqual([
    'millrace: no session nosuch (404)\n',
    'millrace: no session nosuch (404)\n',
  ])
  expect(listed.err).toBe(`millrace: ${dead} cannot be reached (ECONNREFUSED); is the server running?\n`)
})

test('a session that `run` began has the prompt as its title, and fits a narrow terminal', async () => {
  await onServer('run', 'assistant', 'What is the weather in Lisbon?', '--session', 'a-session-with-a-long-name')
  const [wide, narrow, found] = await Promise.all([
    onServer('sessions', 'ls'),
    runCommand(['sessions', 'ls', '--server', served.address], {
      cwd: folder,
      tty: true,
      env: { NO_COLOR: '1' },
      columns: 48,
    }),
    onServer('sessions', 'search', 'Lisbon'),
  ])
  expect(wide.out).toContain('  What is the weather in Lisbon?  ')
  for (const line of narrow.out.trimEnd().split('\n')) expect(line.length, line).toBeLessThanOrEqual(48)
  expect(narrow.out).toMatch(/^session +status +changed\na-session-with-a-long-name +done +.* ago\n$/)
  const columns = found.out
    .trimEnd()
    .split('\n')
    .map((line) => line.search(/ (message|tool|state) /))
  expect(columns.length).toBeGreaterThan(1)
  expect(new Set(columns).size, found.out).toBe(1)
})

test('lists, findings and matches fit a narrow terminal', async () => {
  const event = { id: '1', author: 'lead', invocationId: 'i', timestamp: 1 }
  const parts = [{ functionResponse: { id: 'none', name: 'look', response: { found: 'nothing at all, '.repeat(9) } } }]
  const frame = `data: ${JSON.stringify({ ...event, content: { role: 'user', parts } })}\n\n`
  writeFileSync(join(folder, 'orphan.sse'), frame)
  const narrow = { cwd: folder, tty: true as const, env: { NO_COLOR: '1' }, columns: 60 }
  const shown = await Promise.all(
    [
      ['--help'],
      ['convert', '--help'],
      ['check', 'orphan.sse'],
      ['sessions', 'search', 'Lisbon', '--server', served.address],
      ['tail', 'a-session-with-a-long-name', '--server', served.address, '--no-follow', '--after', '2'],
      ['doctor', '--offline'],
    ].map((args) => runCommand(args, narrow)),
  )
  // What agents say is wrapped by the terminal, and an example is one line, to be copied.
  const isFree = /^ {2}(\S.*In Lisbon|In Lisbon|millrace |curl )|is `millrace serve/
  for (const { out } of shown)
    for (const line of out.split('\n')) if (!isFree.test(line)) expect(line.length, line).toBeLessThanOrEqual(60)
  expect(shown[2]?.out).toContain('answers no')
  expect(shown[5]?.out).toContain('4 examples: assistant,')
})

test('for machines, --json is taken where the flag has another name', async () => {
  const stream = join(folder, 'hello.sse')
  const event = { id: '1', author: 'a', invocationId: 'i', timestamp: 1 }
  writeFileSync(
    stream,
    `data: ${JSON.stringify({ ...event, content: { role: 'model', parts: [{ text: 'hi' }] } })}\n\n`,
  )
  const [converted, tailed] = await Promise.all([
    millrace('convert', '--to', 'millrace', stream, '--json'),
    onServer('tail', 'a-session-with-a-long-name', '--no-follow', '--json'),
  ])
  for (const { code, out } of [converted, tailed])
    expect([code, JSON.parse(out.split('\n')[0] ?? '')]).toEqual([0, expect.objectContaining({ seq: 1 })])
})

test('`check` of a server that takes no GET says how to ask it', async () => {
  const { code, err } = await millrace('check', `${served.address}/ag-ui/assistant`)
  expect(code).toBe(1)
  expect(err).toMatch(/ answered 405 \(.*\); give the body of a run with --data to ask with POST\n$/)
})

test('`check` finds what a careless server does, by name', async () => {
  let asked = 0
  const careless = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      asked += 1
      // A wrong body breaks it.
      if (asked === 2) {
        request.socket.destroy()
        return
      }
      // The stream, two wrong bodies, a reader that leaves and the one after it: the seventh is one of two at once.
      if (asked === 7) {
        response.writeHead(500).end()
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n')
      response.end('data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n\n')
    })
  })
  await new Promise<void>((resolve) => careless.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(careless.address() as AddressInfo).port}/`
  try {
    const { code, out } = await millrace('check', url, '--data', '{"threadId":"t","runId":"r","messages":[]}', '--json')
    const { errors, probes } = JSON.parse(out) as {
      errors: number
      probes: { name: string; ok: boolean; message: string }[]
    }
    expect([code, errors]).toEqual([1, 0])
    expect(probes[0]?.message).toMatch(/^the server did not answer completely: .* cannot be reached/)
    expect(probes.map(({ name, ok }) => [name, ok])).toEqual([
      ['bad body', false],
      ['missing fields', false],
      ['reader leaves', true],
      ['two at once', false],
    ])
  } finally {
    careless.closeAllConnections()
    careless.close()
  }
})

test('what cannot be read or written is a sentence that says why', async () => {
  const stream = 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n'
  const at = (name: string, bytes: string | Buffer): string => {
    writeFileSync(join(folder, name), bytes)
    return name
  }
  const [empty, packed, long] = [
    at('empty.sse', ' \n'),
    at('packed.sse.gz', gzipSync(stream)),
    at('long.sse', `data: "${'y'.repeat(17 * 1024 ** 2)}"\n\n`),
  ]
  const checked = await millrace('check', empty, packed, long)
  expect([checked.code, checked.err]).toEqual([1, ''])
  expect(checked.out).toContain('empty.sse\n  error  it is empty: there is nothing to check\n')
  expect(checked.out).toContain('packed.sse.gz\n  error  packed.sse.gz is compressed with gzip; unpack it first')
  expect(checked.out).toContain('frame 1: longer than 16 MB')
  const named = await millrace('check', empty, '--from', 'adk', '--junit')
  expect([named.code, named.out]).toEqual([1, expect.stringContaining('<failure message="it is empty')])

  const failed = async (...args: readonly string[]): Promise<string> => {
    const { code, err } = await millrace(...args)
    expect(code, args.join(' ')).toBe(1)
    return err
  }
  expect(await failed('test', empty)).toBe('millrace: empty.sse is empty\n')
  expect(await failed('test', at('odd.case.json', '\u001b[31m{'))).not.toContain('\u001b')
  expect(await failed('record', 'assistant', '--from', empty)).toBe('millrace: empty.sse is empty\n')
  expect(await failed('record', 'assistant', 'Hello')).toMatch(
    /^millrace: the example agents are inside the installed command; make a folder of agents with millrace init, /,
  )
  expect(await failed('replay', at('a.sse', stream), '--port', '0', '--host', '192.0.2.1')).toBe(
    'millrace: 192.0.2.1 is no address of this machine; choose another with --host\n',
  )
  expect(await failed('init', join(empty, 'shop'))).toMatch(
    /^millrace: \S+\/empty\.sse\/shop\/package\.json cannot be used, because a part of that path is a file\n$/,
  )
  expect(await failed('tap', 'http://127.0.0.1:2', '--port', '0', '--out', join(empty, 'runs'))).toMatch(
    /empty\.sse\/runs cannot be used, because a part of that path is a file\n$/,
  )
})

test('an output that cannot be written is a sentence and no stack', async () => {
  const full = openSync('/dev/full', 'w')
  try {
    for (const args of [['--help'], ['convert', '--to', 'adk', 'full.sse'], ['doctor', '--json']]) {
      writeFileSync(join(folder, 'full.sse'), 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n')
      const child = spawn(process.execPath, [packedMain, ...args], { cwd: folder, stdio: ['ignore', full, 'pipe'] })
      if (child.stderr === null) throw new Error('it has no standard error')
      const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
      expect([code, err]).toEqual([1, 'millrace: the output cannot be written: the disk is full\n'])
    }
  } finally {
    closeSync(full)
  }
})
