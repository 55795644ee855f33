import { once } from 'node:events'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { fold, type RunEvent, transcriptView } from '@millrace/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { full } from '../../kit/full.ts'
import { scriptedAgent } from '../../kit/scripted-agent.ts'
import { testServer } from '../../kit/server.ts'
import { launchChromium } from '../chromium.ts'
import { buildPage } from './built-page.ts'
import { openScene } from './tab.ts'

/** Forwards bytes both ways, and can cut every open connection. Counts the requests. */
function cuttingProxy(port: number): { server: Server; cut(): void; requests: string[] } {
  const open = new Set<Socket>()
  const requests: string[] = []
  const server = createServer((client) => {
    const upstream = dial(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      const line = /^(GET|POST) \/(run_sse|sessions)\S*/.exec(bytes.toString('latin1'))?.[0]
      if (line !== undefined) requests.push(line)
    })
    client.pipe(upstream).pipe(client)
  })
  return {
    server,
    requests,
    cut: () => {
      for (const socket of open) socket.resetAndDestroy()
    },
  }
}

/** Sends message after message, token by token, until it was cut often enough. */
let enough = false
const talker = scriptedAgent('talker', async function* () {
  for (let message = 0; !enough; message++) {
    const said = (id: string, text: string, partial: boolean): RunEvent => ({
      kind: 'agent',
      message: `m${message}`,
      event: {
        id,
        author: 'talker',
        invocationId: 'i',
        timestamp: 1.76e12,
        content: { parts: [{ text }] },
        ...(partial ? { partial } : {}),
      },
    })
    const words = Array.from({ length: 12 }, (_, i) => `æ${message}.${i} `)
    for (const [i, word] of words.entries()) {
      yield said(`m${message}-${i}`, word, true)
      await new Promise((resolve) => setTimeout(resolve, 4))
    }
    yield said(`m${message}-whole`, words.join(''), false)
  }
})

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

test.each([
  [19, full ? 20 : 6],
  [18, full ? 5 : 3],
] as const)(
  'React %d: a run whose connections are cut %d times arrives whole, once and unchanged',
  async (version, cuts) => {
    enough = false
    const page = await buildPage(version, 'production')
    const server = await testServer({ page, with: [talker], fallback: 'talker' } as never)
    const address = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' }))
    const proxy = cuttingProxy(Number(address.port))
    proxy.server.listen(0, '127.0.0.1')
    await once(proxy.server, 'listening')
    try {
      await server.log.create({ id: 's', user: 'user', agent: 'talker' })
      const { port } = proxy.server.address() as { port: number }
      const tab = await openScene(browser, `http://127.0.0.1:${port}/?scene=cuts`)
      await tab.until('phase', 'open')
      const newMessage = { role: 'user', parts: [{ text: 'Talk' }] }
      await tab.act('run', { appName: 'talker', userId: 'user', sessionId: 's', newMessage, streaming: true })
      await tab.page.waitForFunction(() => (window.report.values.heard as unknown[]).length > 5)

      for (let done = 1; done <= cuts; done++) {
        proxy.cut()
        // Both clients noticed the cut, came back and received more: only then is the next cut in the middle of the run.
        await tab.page.waitForFunction((count) => {
          const { states, statuses } = window.report.values as Record<string, string[]>
          return [states, statuses].every((all) => all!.filter((each) => each === 'waiting').length >= count)
        }, done)
        const at = await tab.page.evaluate(() => ({
          seq: window.report.values.lastSeq as number,
          heard: (window.report.values.heard as unknown[]).length,
        }))
        await tab.page.waitForFunction(
          ({ seq, heard }) =>
            (window.report.values.lastSeq as number) > seq && (window.report.values.heard as unknown[]).length > heard,
          at,
        )
      }
      enough = true
      await tab.until('latest', 'done')
      await tab.page.waitForFunction(() => (window.report.values.statuses as string[]).at(-1) === 'closed')

      const rows = await server.log.read('s', { after: 0 })
      expect(await tab.act('json')).toEqual(JSON.parse(JSON.stringify(fold(transcriptView, rows))))
      const logged = rows.flatMap(({ event }) => (event.kind === 'agent' ? [event.event.id] : []))
      expect(await tab.value('heard')).toEqual(logged)
      expect(new Set(logged).size).toBe(logged.length)

      // The states of the session: after every cut it waited, tried and was open again, and it never reported an end.
      const states = await tab.value<string[]>('states')
      expect(states.filter((state) => state === 'waiting')).toHaveLength(cuts)
      expect(states.filter((state) => state === 'open').length).toBeGreaterThanOrEqual(cuts)
      expect(states).not.toContain('closed')
      expect(await tab.value('phase')).toBe('open')
      // And the run's: the same, then an end that is no error.
      const statuses = await tab.value<string[]>('statuses')
      expect(statuses.filter((status) => status === 'waiting')).toHaveLength(cuts)
      expect(statuses.at(-1)).toBe('closed')
      expect(await tab.value('error')).toBeUndefined()
      // The run was started once. Everything after that only asked for what is missing.
      expect(proxy.requests.filter((line) => line.startsWith('POST'))).toEqual(['POST /run_sse'])
      expect(proxy.requests.length).toBeGreaterThanOrEqual(2 * cuts)
      process.stdout.write(`React ${version}: ${logged.length} events over ${proxy.requests.length} requests\n`)
    } finally {
      enough = true
      proxy.server.close()
      proxy.cut()
      await server.close(0)
    }
  },
)
