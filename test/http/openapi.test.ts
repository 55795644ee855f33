import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiAgents, samples } from '../kit/api-samples.ts'
import { testServer } from '../kit/server.ts'

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> }
  readonly responses: Record<string, { readonly content?: Record<string, { schema?: object; example?: unknown }> }>
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>
}

/** Redocly's recommended rules, each of them: none is switched off. A warning is a failure too. */
async function lint(document: object): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const found = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`)
}

/** Routes that answer but are no part of the API: what adk-web and ADK Studio's page ask for and Millrace has not got. */
const hidden =
  /^\w+ (\/dev)?\/apps\/\{app\}\/(eval[-_]sets|eval_results|eval_metrics|metrics-info|tests)(\/.*)?$|^GET \/run_live$|^GET \/api\/projects\/\{id\}\/webhook-events$|^(POST|DELETE) \/api\/projects(\/\{id\}(\/keys(\/\{name\})?)?)?$|^GET \/(s\/\{session\}|assets\/\*)?$/

/** What takes no body though its method may have one. */
const bodiless = [
  'POST /sign-in',
  'POST /sign-out',
  'POST /sessions/{id}/tasks/{task}/retry',
  'POST /sessions/{id}/restore',
  'POST /dev/apps/{app}/builder/save',
  'POST /dev/apps/{app}/builder/cancel',
  'POST /api/projects/{id}/build',
]

describe('the OpenAPI document', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  let document: Document
  beforeAll(async () => {
    server = await testServer({ with: apiAgents, fallback: 'echo' })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    document = (await (await fetch(`${address}/openapi.json`)).json()) as Document
  })
  afterAll(() => server.close(0))

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
    )

  test('lints clean, with tokens and without', async () => {
    expect(await lint(document)).toEqual([])
    const guarded = await testServer({ with: apiAgents, access: { tokens: new Map([['a-long-token', 'ada']]) } })
    await guarded.app.ready()
    expect(await lint(guarded.app.swagger())).toEqual([])
    await guarded.close(0)
  })

  test('names every route, and nothing but routes', () => {
    const routes = routesOf(server.app.printRoutes({ commonPrefix: false }))
    expect(routes.length).toBeGreaterThan(80)
    const documented = operations().map(({ name }) => name)
    expect(routes.filter((route) => !hidden.test(route) || documented.includes(route)).toSorted()).toEqual(
      documented.toSorted(),
    )
  })

  test('says what goes in and what comes out, everywhere', () => {
    for (const { name, operation } of operations()) {
      if (/^(POST|PUT|PATCH) /.test(name) && !bodiless.includes(name))
        expect(Object.values(operation.requestBody?.content ?? {})[0]?.schema, name).toBeDefined()
      const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
      expect(good, name).toHaveLength(1)
      for (const [status, { content }] of good)
        if (status !== '204') expect(Object.values(content ?? {})[0]?.schema, name).not.toEqual({})
      expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['4XX', '5XX']))
    }
  })

  test('and real answers are so: a sample of every operation, held against its schema', async () => {
    const sampled = new Set<string>()
    for (const { method, path, at, body, headers = {} } of samples) {
      const answer = await fetch(`${address}${at}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await answer.text()
      const name = `${method} ${path}`
      const described = document.paths[path]?.[method.toLowerCase()]?.responses[String(answer.status)]
      expect(described, `${name} answers ${answer.status} ${text}`).toBeDefined()
      sampled.add(name)
      if (answer.status === 204) continue
      const type = answer.headers.get('content-type')?.split(';', 1)[0] ?? ''
      const media = described?.content?.[type] ?? described?.content?.['application/octet-stream']
      expect(media, `${name} answers ${type}`).toBeDefined()
      if (media !== undefined) media.example = type === 'application/json' ? JSON.parse(text) : text
    }
    expect(
      operations()
        .filter(({ name }) => !sampled.has(name))
        .map(({ name }) => name),
    ).toEqual([])
    // The linter holds every example against its schema, and allows no property the schema does not name.
    expect(await lint(document)).toEqual([])
  })

  test('a problem is as documented', async () => {
    const refused = await fetch(`${address}/sessions/none`)
    const media = document.paths['/sessions/{id}']?.get?.responses['4XX']?.content?.['application/problem+json']
    if (media !== undefined) media.example = await refused.json()
    expect(media).toBeDefined()
    expect(await lint(document)).toEqual([])
  })

  test('the page for people names every operation', async () => {
    const page = await (await fetch(`${address}/docs`)).text()
    for (const path of Object.keys(document.paths)) expect(page).toContain(`<code>${path}</code>`)
  })
})

/** Fastify's tree of routes as `METHOD /path/{param}` lines. */
function routesOf(tree: string): readonly string[] {
  const above: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│├└─\s]*)(\S.*?)? \(([A-Z, ]+)\)$/.exec(line) ?? []
    if (methods === '') return []
    const depth = indent.length / 4 - 1
    above.length = depth
    above[depth] = part
    const path = above
      .join('')
      .replace(/^\/\//, '/')
      .replace(/:(\w+)/g, '{$1}')
    return methods
      .split(', ')
      .filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
      .map((method) => `${method} ${path}`)
  })
}
