import fc from 'fast-check'

/** One request to one operation of the OpenAPI document. */
export interface FuzzRequest {
  readonly method: string
  /** As the document names it. */
  readonly route: string
  readonly path: string
  readonly type?: string
  readonly body?: string
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Text that has broken parsers, paths, databases and pages before. */
const nasty = fc.constantFrom(
  '',
  '\u0000',
  '\ud800',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%2e%2e%2f',
  "'; DROP TABLE event; --",
  '{"lc":1,"type":"constructor","id":["x"],"kwargs":{}}',
  'a\r\n\r\ndata: forged',
  '‮txt.exe',
  '9'.repeat(400),
  'x'.repeat(5000),
  '-1',
  '1e400',
  'NaN',
)
/** Few names, so that requests meet each other's sessions. */
const name = fc.constantFrom('s1', 's2', 's3', 'assistant', 'planner', 'ada', 'user', 'transcript', 'state', 'plan')
const text = fc.oneof({ weight: 5, arbitrary: name }, { weight: 2, arbitrary: nasty }, fc.string({ maxLength: 40 }))
const number = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constantFrom(-1, 0.5, 2 ** 53, 1e308, -0))
const anything = fc.oneof(
  { depthSize: 'small' },
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 4 }),
)
const deep = fc.integer({ min: 1, max: 3000 }).map((levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`)

/** A value as the schema wants it, mostly; now and then anything else in its place. */
function nearlyOf(schema: Schema | undefined, levels = 6): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: goodValue(schema, levels) }, { weight: 1, arbitrary: anything })
}

function goodValue(schema: Schema | undefined, levels: number): fc.Arbitrary<unknown> {
  if (schema === undefined || levels === 0) return anything
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined && choices.length > 0) return fc.oneof(...choices.map((one) => nearlyOf(one, levels - 1)))
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  switch (type) {
    case 'string':
      return text
    case 'integer':
    case 'number':
      return number
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(nearlyOf(schema.items, levels - 1), { maxLength: 3 })
    case 'object': {
      const fields = Object.entries(schema.properties ?? {})
      const known = fc.record(Object.fromEntries(fields.map(([key, each]) => [key, nearlyOf(each, levels - 1)])), {
        requiredKeys:
          fc.sample(fc.boolean(), 1)[0] === false
            ? []
            : (schema.required ?? []).filter((key) => key in (schema.properties ?? {})),
      })
      return fc
        .tuple(known, fc.option(fc.dictionary(text, anything, { maxKeys: 2 }), { freq: 4 }))
        .map(([some, more]) => ({ ...some, ...more }))
    }
    default:
      return anything
  }
}

/** Lines of an export or frames of a stream, as `POST /sessions/import` takes them: near to right. */
const recorded = fc.array(
  fc.record({
    seq: fc.oneof(fc.integer({ min: 1, max: 50 }), anything),
    at: number,
    run: text,
    event: fc.oneof(
      fc.record({
        kind: fc.constant('state'),
        patch: fc.array(
          fc.record({
            op: fc.constantFrom('add', 'remove', 'copy', 'move', 'test', 'replace'),
            path: fc.constantFrom('', '/a', '/a/b', '/a/-', 'x'),
            from: fc.constantFrom('', '/a'),
            value: anything,
          }),
          { maxLength: 4 },
        ),
      }),
      fc.record({ kind: fc.constant('run.started'), agent: text, input: fc.constant({ messages: [] }) }),
      fc.record({ kind: fc.constant('run.finished'), outcome: fc.constantFrom('done', 'failed', 'interrupted') }),
      fc.record({
        kind: fc.constantFrom('node.started', 'node.finished', 'tasks', 'interrupt', 'log', 'x'),
        node: text,
        agent: text,
        status: text,
        id: text,
      }),
      fc.record({
        kind: fc.constant('agent'),
        message: text,
        event: fc.record({
          id: text,
          author: text,
          invocationId: text,
          timestamp: number,
          partial: fc.boolean(),
          actions: fc.record({ stateDelta: fc.dictionary(text, anything, { maxKeys: 3 }) }),
          content: fc.record({ parts: fc.array(fc.record({ text })) }),
        }),
      }),
    ),
  }),
  { maxLength: 12 },
)
const importText = fc.oneof(
  recorded.map((rows) =>
    [
      '{"format":"millrace.session","version":1,"session":{"agent":"assistant","title":"t"}}',
      ...rows.map((row, i) => JSON.stringify({ ...row, seq: typeof row.seq === 'number' ? i + 1 : row.seq })),
    ].join('\n'),
  ),
  recorded.map((rows) => rows.map(({ event }) => `data: ${JSON.stringify(event)}\n\n`).join('')),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  text,
)

/** Requests to every operation of the document. */
export function fuzzRequests(document: OpenApi): fc.Arbitrary<FuzzRequest> {
  const each = Object.entries(document.paths).flatMap(([route, operations]) =>
    Object.entries(operations).map(([method, operation]) => requestOf(method.toUpperCase(), route, operation)),
  )
  return fc.oneof(...each)
}

function requestOf(
  method: string,
  route: string,
  { parameters = [], requestBody }: Operation,
): fc.Arbitrary<FuzzRequest> {
  const segments = [...route.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key)
  const path = fc.tuple(...segments.map(() => text)).map((values) => {
    let left = [...values]
    return route.replace(/\{\w+\}/g, () => {
      const [first = '', ...rest] = left
      left = rest
      return encodeURIComponent(wellFormed(first)) || 'x'
    })
  })
  const inQuery = parameters.filter((one) => one.in === 'query')
  const query = fc
    .record(Object.fromEntries(inQuery.map((one) => [one.name, nearlyOf(one.schema)])), { requiredKeys: [] })
    .map((values) =>
      Object.entries(values)
        .map(
          ([key, value]) =>
            `${key}=${encodeURIComponent(wellFormed(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')))}`,
        )
        .join('&'),
    )
  const content = Object.entries(requestBody?.content ?? {})
  const body =
    content.length === 0
      ? fc.constant({})
      : fc.oneof(...content.map(([type, { schema }]) => bodyOf(type, schema, route)))
  return fc.tuple(path, query, body).map(([at, search, sent]) => ({
    method,
    route,
    path: search === '' ? at : `${at}?${search}`,
    ...sent,
  }))
}

function bodyOf(type: string, schema: Schema | undefined, route: string): fc.Arbitrary<{ type: string; body: string }> {
  const good =
    route.endsWith('/import') || !type.includes('json')
      ? importText
      : nearlyOf(schema).map((value) => JSON.stringify(value) ?? '')
  return fc
    .oneof({ weight: 20, arbitrary: good }, { weight: 1, arbitrary: deep }, { weight: 1, arbitrary: text })
    .map((body) => ({ type, body: wellFormed(body) }))
}

/** HTTP carries UTF-8, in which an unpaired surrogate cannot be written. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}
