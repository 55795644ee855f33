import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildChild, has, message } from '../kit/built-child.ts'
import { full } from '../kit/full.ts'
import { SseClient } from '../kit/sse-client.ts'

const events = full ? 4_000 : 1_000
const size = 4_000
const slowReaders = 10
const folder = mkdtempSync(join(tmpdir(), 'millrace-slow-'))
let child: ChildProcess
let port: number
beforeAll(async () => {
  child = (await buildChild('slow-reader'))(folder, String(events), String(size))
  port = (await message(child, has<{ port: number }>('port'))).port
})
afterAll(() => {
  child.kill()
  rmSync(folder, { recursive: true })
})

const path = (session: string): string => `/?session=${session}&run=r&dialect=adk`

/** Makes the child create the session, or run in it; returns the memory that the child then holds. */
async function ask(session: string, run?: boolean): Promise<number> {
  const answer = message(child, has<{ memory: number }>('memory'))
  child.send({ session, run })
  return (await answer).memory
}

/** Takes a thousand bytes a second, until `hurry` is called; then returns the whole body. */
class SlowReader {
  #body = ''
  #timer: NodeJS.Timeout
  readonly #socket: Socket
  readonly #ended: Promise<void>
  constructor(session: string) {
    this.#socket = connect({ port, host: '127.0.0.1' })
    this.#socket.setEncoding('latin1')
    this.#socket.write(`GET ${path(session)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    this.#ended = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#timer = setInterval(() => {
      this.#body += this.#socket.read(1000) ?? ''
    }, 1000)
  }
  /** How much it has taken so far. */
  get taken(): number {
    return this.#body.length
  }
  async hurry(): Promise<string> {
    clearInterval(this.#timer)
    this.#socket.on('data', (text) => {
      this.#body += text
    })
    await this.#ended
    return unchunked(this.#body.slice(this.#body.indexOf('\r\n\r\n') + 4)).replaceAll(': heartbeat\n\n', '')
  }
}

function unchunked(body: string): string {
  let plain = ''
  for (let at = 0; at < body.length; ) {
    const line = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.slice(at, line), 16)
    plain += body.slice(line + 2, line + 2 + length)
    at = line + 4 + length
  }
  return plain
}

/** One run with five quick readers and some slow ones: how long the quick ones took, and what the server holds afterwards. */
async function flood(session: string, slow: number) {
  await ask(session)
  const others = Array.from({ length: slow }, () => new SlowReader(session))
  const quick = Array.from({ length: 5 }, () => new SseClient(port, path(session)))
  const begun = performance.now()
  const reading = Promise.all(quick.map((client) => client.read()))
  await ask(session, true)
  expect(await reading).toEqual(quick.map(() => true))
  const took = performance.now() - begun
  const held = await ask(`${session} after`)
  return { took, held, text: quick[0]?.text ?? '', others }
}

test('readers of 1 kB/s cost a bounded window each, delay no other reader, and miss nothing', async () => {
  await flood('warm', 0)
  const alone: number[] = []
  const beside: number[] = []
  for (const round of [1, 2]) {
    const calm = await flood(`calm${round}`, 0)
    const slow = await flood(`slow${round}`, slowReaders)
    alone.push(calm.took)
    beside.push(slow.took)
    const payload = slow.text.length
    expect(payload).toBeGreaterThan(events * size)
    // The quick ones have it all, and the slow ones nearly nothing: they wait for none of them.
    for (const { taken } of slow.others) expect(taken).toBeLessThan(payload / 4)
    // Unbounded, they would hold a payload each; an encoder for one reader holds a page of the log and what it may run ahead.
    // That constant, and what the collector has not freed yet, weigh more beside the small payload.
    expect((slow.held - calm.held) / (payload * slowReaders)).toBeLessThan(full ? 0.06 : 0.25)
    if (round < 2) for (const reader of slow.others) void reader.hurry()
    else {
      const whole = `retry: 1000\n\n${slow.text}`
      for (const reader of slow.others) expect((await reader.hurry()) === whole).toBe(true)
    }
  }
  // Time on the clock says something on a quiet machine only.
  if (full) expect(Math.min(...beside) / Math.min(...alone)).toBeLessThan(2)
})
