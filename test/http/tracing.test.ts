import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { discoverAgents } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTelemetry } from '../../packages/cli/src/serve/telemetry.ts'
import { exampleAgents } from '../kit/built-packages.ts'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[]
  readonly status: { readonly code?: number }
}
type Otlp = { resourceSpans: { resource: object; scopeSpans: { spans: OtlpSpan[] }[] }[] }

/** The records of calls that another server made: one whose model is named at the end, and one that waited since the run began. */
const far = scriptedAgent('far', function* () {
  yield { kind: 'model.started', call: 'c1', agent: 'far', waited: 0 }
  yield { kind: 'model.finished', call: 'c1', status: 'ok', model: 'gemini', duration: 0 }
  yield { kind: 'model.started', call: 'c2', agent: 'far', model: 'gemini', waited: 3_600_000 }
  yield { kind: 'model.finished', call: 'c2', status: 'ok', duration: 3_600_000 }
})

/** What an OTLP/HTTP collector on loopback was sent. */
describe('traces', () => {
  const bodies: string[] = []
  const requests: string[] = []
  let collector: Server
  let server: Awaited<ReturnType<typeof testServer>>
  let telemetry: ReturnType<typeof openTelemetry>
  let said: readonly string[] = []
  const words = ['Is it safe to enter', 'Lisbon', 'Hello', 'simulate a model failure']

  beforeAll(async () => {
    collector = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request.setEncoding('utf8')) body += piece
      requests.push(`${request.method} ${request.url} ${request.headers['content-type']}`)
      bodies.push(body)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    const { port } = collector.address() as AddressInfo
    telemetry = openTelemetry(
      { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`, OTEL_SERVICE_NAME: 'mill' },
      '1',
    )
    const agents = discoverAgents(exampleAgents, {
      models: { tokensPerSecond: 0 },
    })
    const all = new Map([...agents.agents, ['far', far] as const])
    server = await testServer({ agents: { agents: all }, fallback: 'assistant', tracing: telemetry })
    for (const [session, agent, text] of [
      ['chat', 'assistant', 'What is the weather in Lisbon?'],
      ['team', 'recovery', 'Is it safe to enter the Cedar Creek area? Assess it.'],
      ['fails', 'assistant', 'Simulate a model failure'],
      ['far', 'far', 'Hello'],
    ] as const) {
      await server.log.create({ id: session, user: 'u', agent })
      const message = { id: `m-${session}`, role: 'user' as const, content: { parts: [{ text }] } }
      await server.engine.start({ session, user: 'u', agent, run: `run-${session}`, input: { messages: [message] } })
      await server.engine.wait(session, `run-${session}`)
    }
    const rows = await Promise.all(['chat', 'team'].map((id) => server.log.read(id, { after: 0 })))
    said = rows
      .flat()
      .flatMap(({ event }) =>
        event.kind === 'agent' && event.event.partial !== true ? (event.event.content?.parts ?? []) : [],
      )
      .flatMap(({ text = '' }) => (text.length > 20 ? [text.slice(0, 40)] : []))
    await server.close(1_000)
    await telemetry.close()
  })
  afterAll(() => collector.close())

  const spans = (): readonly OtlpSpan[] =>
    bodies.flatMap((body) =>
      (JSON.parse(body) as Otlp).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    )
  const fact = ({ attributes }: OtlpSpan, key: string): string | undefined =>
    attributes.find((attribute) => attribute.key === key)?.value.stringValue
  const runOf = (run: string) => {
    const root = spans().find((span) => fact(span, 'millrace.run.id') === run)
    const all = spans().filter(({ traceId }) => traceId === root?.traceId)
    const parent = ({ parentSpanId = '' }: OtlpSpan) => all.find(({ spanId }) => spanId === parentSpanId)
    return { root, all, parent }
  }

  test('arrive as OTLP over HTTP, under the name of the service', () => {
    expect(new Set(requests)).toEqual(new Set(['POST /v1/traces application/json']))
    expect(bodies[0]).toContain('{"key":"service.name","value":{"stringValue":"mill"}}')
  })

  test('a run is a trace: agents in the run, model calls and tools in their agent', () => {
    const { root, all, parent } = runOf('run-chat')
    expect(root).toMatchObject({ name: 'run' })
    expect(root?.parentSpanId ?? '').toBe('')
    expect(fact(root as OtlpSpan, 'gen_ai.conversation.id')).toBe('chat')
    expect(fact(root as OtlpSpan, 'millrace.outcome')).toBe('done')
    const named = (name: string) => all.filter((span) => span.name === name)
    expect(named('invoke_agent assistant').map((span) => parent(span)?.name)).toEqual(['run'])
    const models = named('generate_content')
    expect(models.length).toBeGreaterThanOrEqual(2)
    for (const model of models) {
      expect(parent(model)?.name).toBe('invoke_agent assistant')
      expect(fact(model, 'gen_ai.request.model')).toBe('offline')
      const keys = model.attributes.map(({ key }) => key)
      expect(keys).toEqual(expect.arrayContaining(['gen_ai.usage.input_tokens', 'millrace.first_token_ms']))
    }
    const tools = all.filter(({ name }) => name.startsWith('execute_tool '))
    expect(tools.length).toBeGreaterThanOrEqual(1)
    for (const tool of tools) expect(parent(tool)?.name).toBe('invoke_agent assistant')
  })

  test('a model call of another server has the model that answered, and begins within its run', () => {
    const { root, all } = runOf('run-far')
    const models = all.filter(({ name }) => name === 'generate_content')
    expect(models).toHaveLength(2)
    for (const model of models) {
      expect([fact(model, 'gen_ai.request.model'), fact(model, 'gen_ai.response.model')]).toEqual([undefined, 'gemini'])
      expect(BigInt(model.startTimeUnixNano) >= BigInt(root?.startTimeUnixNano ?? 0)).toBe(true)
      expect(BigInt(model.endTimeUnixNano) <= BigInt(root?.endTimeUnixNano ?? 0)).toBe(true)
    }
  })

  test('specialists are below their caller, and every span lies within its parent', () => {
    const { root, all, parent } = runOf('run-team')
    const agents = all.filter(({ name }) => name.startsWith('invoke_agent '))
    expect(agents.length).toBeGreaterThan(2)
    expect(agents.filter((span) => parent(span)?.spanId === root?.spanId)).toHaveLength(1)
    for (const span of all) {
      expect(span.spanId === root?.spanId || parent(span) !== undefined, span.name).toBe(true)
      const around = parent(span) ?? span
      expect(BigInt(span.startTimeUnixNano) >= BigInt(around.startTimeUnixNano), span.name).toBe(true)
      expect(BigInt(span.endTimeUnixNano) <= BigInt(around.endTimeUnixNano), span.name).toBe(true)
    }
  })

  test('a failed run is an error, with its code and without its words', () => {
    const { root } = runOf('run-fails')
    expect(root?.status).toMatchObject({ code: 2, message: 'model-error' })
    expect(fact(root as OtlpSpan, 'millrace.outcome')).toBe('failed')
  })

  test('nothing that was said is in any span', () => {
    expect(said.length).toBeGreaterThan(3)
    const all = bodies.join('\n').toLowerCase()
    for (const text of [...words, ...said]) expect(all).not.toContain(text.toLowerCase())
  })
})
