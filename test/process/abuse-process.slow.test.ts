import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { samples } from '../kit/api-samples.ts'
import { buildChild, has, message } from '../kit/built-child.ts'
import { full } from '../kit/full.ts'

/** Hostile clients against a server in a process of its own: it stays up, and keeps nothing of them. */
let child: ChildProcess
let address: string
beforeAll(async () => {
  child = (await buildChild('abused'))()
  address = (await message(child, has<{ address: string }>('address'))).address
  for (const sample of samples.filter(({ method }) => method !== 'DELETE')) await ask(sample)
})
afterAll(async () => {
  child.kill()
  await once(child, 'exit')
})

async function ask({ method, at, body, headers = {} }: (typeof samples)[number]) {
  const answer = await fetch(`${address}${at}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() }
}

const wrong = [null, 7, -1.5, true, 'x', '', [], {}, [null], { a: [{}] }, 'x'.repeat(5000)]

/** Every value inside a JSON value, by a function that puts another in its place. */
function places(value: unknown): readonly ((other: unknown) => unknown)[] {
  const here = (other: unknown): unknown => other
  if (typeof value !== 'object' || value === null) return [here]
  const inner = Object.entries(value).flatMap(([key, field]) =>
    places(field).map((put) => (other: unknown) => {
      const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
      copy[key] = put(other)
      return copy
    }),
  )
  return [here, ...inner]
}

const bodies = samples.filter(({ body }) => typeof body === 'object' && body !== null)
test.each(bodies.map((sample) => ({ what: `${sample.method} ${sample.path}`, sample })))(
  '$what with a wrong value in every place is answered as JSON, and makes nothing else fail',
  async ({ sample }) => {
    for (const put of places(sample.body)) {
      for (const value of wrong) {
        const body = put(value)
        const { status, type, text } = await ask({ ...sample, body: JSON.stringify(body) })
        const said = `${JSON.stringify(body).slice(0, 300)} → ${status} ${text.slice(0, 300)}`
        expect(status, said).toBeLessThan(500)
        expect(status === 204 || /json|text\/event-stream/.test(type), said).toBe(true)
        expect(text, said).not.toMatch(/node_modules|\.[cm]?[jt]s:\d+:\d+|<html/i)
        if (status === 422) expect(JSON.parse(text).errors.length, said).toBeGreaterThan(0)
      }
    }
  },
)

test('what they leave behind is nothing', async () => {
  const port = Number(new URL(address).port)
  const memory = async (): Promise<number> => {
    const report = message(child, has<{ memory: number }>('memory'))
    child.send('memory')
    return (await report).memory
  }
  const post = (body: string) => ask({ method: 'POST', path: '/', at: '/', body, headers: {} })
  const deep = `{"threadId":"t","runId":"r","messages":[],"state":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const big = `{"threadId":"t","runId":"r","messages":7,"pad":"${'x'.repeat(1_000_000)}"}`
  const sockets = async (bytes: string): Promise<void> => {
    const open = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
    await Promise.all(open.map((socket) => once(socket, 'connect')))
    for (const socket of open) socket.write(bytes)
    for (const socket of open) socket.destroy()
  }
  const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
  const flood = `${head}${Array.from({ length: 4000 }, (_, i) => `x-${i}: y\r\n`).join('')}`
  const storm = async (): Promise<void> => {
    for (const bytes of ['', head, `${head}content-length: 100000\r\n\r\n{"a":"`, flood, 'NONSENSE\r\n\r\n'])
      await sockets(bytes)
    for (let i = 0; i < 20; i += 1) expect([400, 422]).toContain((await post(i % 2 === 0 ? deep : big)).status)
    for (let i = 0; i < 100; i += 1) {
      const leave = new AbortController()
      await fetch(`${address}/sessions/any/events?dialect=adk`, { signal: leave.signal })
      leave.abort()
    }
    // A good client is served meanwhile.
    expect((await ask({ method: 'GET', path: '', at: '/health' })).status).toBe(200)
    const good = await ask({ method: 'GET', path: '', at: '/sessions/any/events?dialect=adk&run=one' })
    expect(good.text).toContain('You said hi')
  }
  for (let i = 0; i < (full ? 3 : 2); i += 1) await storm()
  const before = await memory()
  for (let i = 0; i < (full ? 8 : 3); i += 1) await storm()
  expect((await memory()) / before).toBeLessThan(1.1)
  expect(child.exitCode).toBeNull()
})
