import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertChunks, type DialectName, detectDialect, dialectNames, printFrame } from '@millrace/core'
import { wireText } from '@millrace/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endOf, peakMemory, runCommand, startCommand } from '../kit/command.ts'
import { full } from '../kit/full.ts'
import { loadVectors } from '../kit/vectors.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'run.sse')
beforeAll(() => writeFileSync(file, recovery()))

function recovery(): string {
  const [vector] = loadVectors('adk').filter(({ name }) => name === 'documented-recovery')
  return wireText(vector?.wire ?? [])
}

test('a file, standard input and lines are converted; the dialect of the input is found', async () => {
  const [ofFile, ofPipe, lines] = await Promise.all([
    runCommand(['convert', '--from', 'adk', '--to', 'ag-ui', file]),
    runCommand(['convert', '--to', 'ag-ui'], { stdin: readFileSync(file, 'utf8') }),
    runCommand(['convert', '--to', 'millrace', '--lines', file]),
  ])
  expect([ofFile.code, ofPipe.code, lines.code]).toEqual([0, 0, 0])
  expect(detectDialect(ofFile.out)).toBe('ag-ui')
  expect(ofPipe.out).toBe(ofFile.out)
  const rows = lines.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: { kind: string } })
  expect([rows[0]?.event.kind, rows.at(-1)?.event.kind]).toEqual(['run.started', 'run.finished'])
})

test.each<[string, readonly string[], number, RegExp]>([
  ['an unknown dialect', ['--to', 'klingon', '-'], 2, /'klingon' is invalid\. Allowed choices are ag-ui, plan/],
  ['no target', ['x'], 2, /required option '--to <dialect>' not specified/],
  ['a missing file', ['--to', 'adk', join(folder, 'none')], 1, /^millrace: there is no file .*none\n$/],
  ['a folder', ['--to', 'adk', folder], 1, /is a folder; name a file/],
  ['an empty file', ['--to', 'adk', '/dev/null'], 1, /^millrace: \/dev\/null is empty\n$/],
  [
    'a dead server',
    ['--to', 'adk', 'http://127.0.0.1:2/x'],
    1,
    /cannot be reached \(ECONNREFUSED\); check the address/,
  ],
  [
    'a text that is no stream',
    ['--to', 'adk'],
    1,
    /^millrace: standard input: this is neither JSON nor an event stream\n$/,
  ],
])('%s is one sentence', async (_name, args, code, sentence) => {
  const ended = await runCommand(['convert', ...args], { stdin: 'hello\n' })
  expect(ended).toEqual({ code, out: '', err: expect.stringMatching(sentence) })
})

test('help has examples', async () => {
  const { code, out } = await runCommand(['convert', '--help'])
  expect(code).toBe(0)
  expect(out).toContain('Examples:\n  millrace convert --to ag-ui run.sse')
})

test('a reader that leaves early, as head does, is no failure', async () => {
  const child = startCommand(['convert', '--from', 'adk', '--to', 'ag-ui'])
  const closed = once(child, 'close')
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdin.on('error', () => {})
  const feed = setInterval(() => child.stdin.write(recovery()), 1)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = await closed
  clearInterval(feed)
  expect({ code, err }).toEqual({ code: 0, err: '' })
})

test('Ctrl-C ends a conversion that waits for its input', async () => {
  const child = startCommand(['convert', '--from', 'adk', '--to', 'ag-ui'])
  const ended = endOf(child)
  child.stdin.write(recovery())
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  expect(await ended).toMatchObject({ code: 130, err: '' })
})

/** The wires that can be read and printed as a stream; AG-UI is where a conversation could be held. */
const directions: readonly (readonly [DialectName, DialectName])[] = full
  ? dialectNames.flatMap((from) => dialectNames.flatMap((to) => (from === to ? [] : [[from, to] as const])))
  : [
      ['ag-ui', 'adk'],
      ['plan', 'ag-ui'],
    ]
const megabytes = full ? 1000 : 90

test.each(directions)(
  `${megabytes} MB of %s to %s take less than 150 MB of memory, and not much more at the end than after a third`,
  async (from, to) => {
    const child = startCommand(['convert', '--from', from, '--to', to])
    const exited = once(child, 'close')
    let received = 0
    child.stdout.on('data', (bytes: Uint8Array) => {
      received += bytes.length
    })
    const memory = (): number => peakMemory(child.pid ?? 0) ?? 0
    let sent = 0
    let third = 0
    for await (const block of wireOf(from)) {
      sent += block.length
      if (!child.stdin.write(block)) await once(child.stdin, 'drain')
      if (third === 0 && sent > (megabytes * 2 ** 20) / 3) third = memory()
      if (sent > megabytes * 2 ** 20) break
    }
    const whole = memory()
    child.stdin.end()
    expect((await exited)[0]).toBe(0)
    expect(received).toBeGreaterThan(sent / 20)
    expect(whole).toBeLessThan(150)
    expect(whole / third).toBeLessThan(1.4)
  },
)

/** A session without end on any wire. */
async function* wireOf(dialect: DialectName): AsyncGenerator<string> {
  if (dialect === 'adk') yield* longStream()
  const options = { from: 'adk', to: dialect, run: 'r', now: () => 1 } as const
  for await (const frames of convertChunks(chunked(longStream()), options)) yield frames.map(printFrame).join('')
}

async function* chunked(blocks: Iterable<string>): AsyncGenerator<string> {
  yield* blocks
}

/** A session that never stops: turns of a call, its long result, and a streamed answer. Blocks of one turn. */
function* longStream(): Generator<string> {
  const found = 'A line of what was found. '.repeat(3000)
  const words = Array.from({ length: 40 }, (_, i) => `A sentence of the answer with the number ${i}. `)
  let events = 0
  for (let turn = 0; ; turn++) {
    const event = (part: object, rest: object = {}): string => {
      const common = { id: `e${events++}`, author: 'a', invocationId: 'i', timestamp: 1_767_081_391_000 + turn }
      return `data: ${JSON.stringify({ ...common, content: { role: 'model', parts: [part] }, ...rest })}\n\n`
    }
    yield event({ functionCall: { id: `c${turn}`, name: 'search', args: { query: 'rain' } } }) +
      event({ functionResponse: { id: `c${turn}`, name: 'search', response: { found } } }) +
      words.map((text) => event({ text }, { partial: true })).join('') +
      event({ text: words.join('') }, { actions: { stateDelta: { turn } } })
  }
}
