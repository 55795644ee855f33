import { request } from 'node:http'
import { discoverAgents } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { testServer } from '../kit/server.ts'

/** The commands of the AG-UI middleware document, as printed. They name port 8000; the socket here has another port. */
const commands = [
  {
    section: 'Example Complete Flow, Request',
    says: 'Hello! How can I help you?',
    printed: String.raw`curl -X POST http://0.0.0.0:8000 \
  -H "Content-Type: application/json" \
  -d '{
    "threadId": "test-123",
    "runId": "run-456",
    "state": {},
    "messages": [{"id": "1", "role": "user", "content": "Hello"}],
    "tools": [],
    "context": [],
    "forwardedProps": {}
  }'`,
  },
  {
    section: 'Testing, Test Backend Directly',
    says: /\w+/,
    printed: String.raw`curl -N -X POST http://0.0.0.0:8000 \
  -H "Content-Type: application/json" \
  -d '{
    "threadId": "test",
    "runId": "test",
    "state": {},
    "messages": [{"id": "1", "role": "user", "content": "Tell me a proverb"}],
    "tools": [],
    "context": [],
    "forwardedProps": {}
  }'`,
  },
]

/** The words of a shell line: bare, in 'single' or in "double" quotes, over several lines. */
const wordsOf = (line: string): readonly string[] =>
  [...line.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')

/** Sends what curl would send for such a line: its own headers, the Host of the URL, the body unchanged. */
function curl(line: string, port: number): Promise<{ status: number; type: string; text: string }> {
  const words = wordsOf(line)
  const after = (flag: string): string => words[words.indexOf(flag) + 1] ?? ''
  const url = new URL(words.find((word) => word.startsWith('http')) ?? '')
  const [name = '', value = ''] = after('-H').split(': ')
  return new Promise((resolve, reject) => {
    const headers = { host: url.host, 'user-agent': 'curl/8.5.0', accept: '*/*', [name]: value }
    const sent = request(
      { host: '127.0.0.1', port, path: url.pathname, method: after('-X'), headers },
      async (answer) => {
        let text = ''
        for await (const piece of answer.setEncoding('utf8')) text += piece
        resolve({ status: answer.statusCode ?? 0, type: answer.headers['content-type'] ?? '', text })
      },
    )
    sent.on('error', reject)
    sent.end(after('-d'))
  })
}

describe('the documented requests, as printed', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let port: number
  beforeAll(async () => {
    const agents = discoverAgents(exampleAgents, {
      models: { tokensPerSecond: 0 },
    })
    server = await testServer({ agents, fallback: 'assistant' })
    port = Number(new URL(await server.app.listen({ port: 0, host: '127.0.0.1' })).port)
  })
  afterAll(() => server.close(0))

  test.each(commands)('AG-UI middleware: $section', async ({ printed, says }) => {
    const asked = JSON.parse(wordsOf(printed).at(-1) ?? '')
    const { status, type, text } = await curl(printed, port)
    expect([status, type]).toEqual([200, 'text/event-stream'])
    // The reader that the document shows: lines that begin with "data: ", each of them JSON.
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)))
    const { threadId, runId } = asked
    expect(events[0]).toMatchObject({ type: 'RUN_STARTED', threadId, runId })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', threadId, runId })
    const start = events.find((event) => event.type === 'TEXT_MESSAGE_START')
    expect(start).toMatchObject({ role: 'assistant' })
    const said = events.filter(
      ({ type, messageId }) => messageId === start.messageId && type === 'TEXT_MESSAGE_CONTENT',
    )
    expect(said.length).toBeGreaterThan(1)
    expect(said.map(({ delta }) => delta).join('')).toMatch(says)
    const types = events.map((event) => event.type)
    expect(types.indexOf('TEXT_MESSAGE_END')).toBeGreaterThan(types.lastIndexOf('TEXT_MESSAGE_CONTENT'))
    expect(types).toContain('STATE_SNAPSHOT')
  })

  test('plan/execute: the endpoints of chat and execution', async () => {
    const at = `http://127.0.0.1:${port}`
    const post = (path: string, body: object) =>
      fetch(`${at}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const { id } = (await (await post('/sessions', {})).json()) as { id: string }
    const chat = await (
      await post(`/sessions/${id}/chat`, { message: 'Plan a competitor analysis of the CRM market' })
    ).text()
    expect(chat).toMatch(/^event: content\n/m)
    expect(chat).toMatch(/^event: tasks_updated\n/m)
    expect(chat).toMatch(/event: done\n(?:id: \d+\n)?data: \{"type":"done"\}\n\n$/)
    const execution = await (await post(`/sessions/${id}/execute`, {})).text()
    for (const name of ['task_selected', 'tool_call', 'tool_result', 'task_completed', 'reflection', 'done'])
      expect(execution, name).toMatch(new RegExp(`^event: ${name}\n`, 'm'))
    const session = (await (await fetch(`${at}/sessions/${id}`)).json()) as { tasks: { status: string }[] }
    expect(session.tasks.every(({ status }) => status === 'done' || status === 'failed')).toBe(true)
  })
})
