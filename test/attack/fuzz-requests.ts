import fc from 'fast-check'

/** One request to one operation of the OpenAPI document. */
export interface FuzzRequest {
  readonly method: string
  /** As the document names it. */
  readonly route: string
  readonly path: string
  readonly type?: string
  readonly body?: string
  /** The body is what a GET of the same path answers. */
  readonly echoes?: true
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
  readonly responses?: Readonly<Record<string, unknown>>
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
const session = fc.constantFrom('s1', 's2', 's3')
const name = fc.constantFrom('s1', 's2', 'assistant', 'planner', 'user', 'transcript', 'state', 'plan')
const text = fc.oneof({ weight: 4, arbitrary: name }, { weight: 2, arbitrary: nasty }, fc.string({ maxLength: 40 }))
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

/** What a field of this name holds in a request that is meant well. */
const meant: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  id: session,
  session,
  sessionId: session,
  session_id: session,
  threadId: session,
  app: fc.constantFrom('assistant', 'planner'),
  appName: fc.constantFrom('assistant', 'planner'),
  agent: fc.constantFrom('assistant', 'planner'),
  user: fc.constant('user'),
  userId: fc.constant('user'),
  view: fc.constantFrom('transcript', 'timeline', 'state', 'flow', 'usage', 'proof', 'plan', 'problems'),
  set: fc.constant('set'),
  case: fc.constant('c'),
  name: fc.constantFrom('note', 'set'),
  version: fc.constant('0'),
  runId: fc.integer({ min: 0, max: 1e6 }).map((n) => `r${n}`),
  run: fc.integer({ min: 0, max: 1e6 }).map((n) => `r${n}`),
  input: fc.constant({ messages: [] }),
  messages: fc.constant([{ id: '1', role: 'user', content: 'hi' }]),
  newMessage: fc.constant({ role: 'user', parts: [{ text: 'hi' }] }),
  at: fc.integer({ min: 0, max: 20 }),
  after: fc.integer({ min: 0, max: 20 }).map(String),
  state: fc.dictionary(fc.constantFrom('a', 'b', 'user:c'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
}

/** How a request is made: `tame` ones are meant well, `wild` ones have anything in place of some values. */
type Manner = 'tame' | 'wild'

function nearlyOf(schema: Schema | undefined, manner: Manner, field = '', levels = 6): fc.Arbitrary<unknown> {
  const good = Object.hasOwn(meant, field) ? (meant[field] ?? text) : schemaValue(schema, manner, levels)
  return manner === 'tame' ? good : fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: anything })
}

function schemaValue(schema: Schema | undefined, manner: Manner, levels: number): fc.Arbitrary<unknown> {
  if (schema === undefined || levels === 0) return anything
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined && choices.length > 0)
    return fc.oneof(...choices.map((one) => nearlyOf(one, manner, '', levels - 1)))
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
      return fc.array(nearlyOf(schema.items, manner, '', levels - 1), { maxLength: 3 })
    case 'object': {
      const fields = Object.entries(schema.properties ?? {})
      const required = (schema.required ?? []).filter((key) => Object.hasOwn(schema.properties ?? {}, key))
      const known = fc.record(
        Object.fromEntries(fields.map(([key, each]) => [key, nearlyOf(each, manner, key, levels - 1)])),
        { requiredKeys: manner === 'tame' ? required : [] },
      )
      if (manner === 'tame') return known
      return fc
        .tuple(known, fc.option(fc.dictionary(text, anything, { maxKeys: 2 }), { freq: 4 }))
        .map(([some, more]) => ({ ...some, ...more }))
    }
    default:
      return anything
  }
}

/** Events as a log takes them. */
const goodEvent = fc.oneof(
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
  fc.record({ kind: fc.constant('node.started'), node: text, agent: text }),
  fc.record({ kind: fc.constant('node.finished'), node: text, status: fc.constantFrom('ok', 'error') }),
  fc.record({ kind: fc.constant('interrupt'), id: text, reason: text }),
  fc.record({ kind: fc.constant('artifact'), id: text, name: text, type: text, version: fc.nat(3) }),
  fc.record({
    kind: fc.constant('agent'),
    message: text,
    event: fc.record({
      id: text,
      author: text,
      invocationId: text,
      timestamp: fc.nat(2e9),
      partial: fc.boolean(),
      actions: fc.record({ stateDelta: fc.dictionary(text, anything, { maxKeys: 3 }) }),
      content: fc.record({ parts: fc.array(fc.record({ text })) }),
    }),
  }),
)
const badEvent = fc.record({
  kind: fc.constantFrom('node.started', 'tasks', 'interrupt', 'log', 'x'),
  node: anything,
  id: text,
})
/** Lines of an export or frames of a stream, as `POST /sessions/import` takes them: mostly right. */
const recorded = fc.array(
  fc.record({
    at: fc.oneof({ weight: 40, arbitrary: fc.nat(2e9) }, number),
    run: fc.oneof({ weight: 20, arbitrary: fc.constantFrom('', 'r1', 'r2') }, text),
    event: fc.oneof({ weight: 40, arbitrary: goodEvent }, badEvent),
  }),
  { maxLength: 12 },
)
const importText = fc.oneof(
  recorded.map((rows) =>
    [
      '{"format":"millrace.session","version":1,"session":{"agent":"assistant","title":"t"}}',
      ...rows.map((row, i) => JSON.stringify({ ...row, seq: i + 1 })),
    ].join('\n'),
  ),
  recorded.map((rows) => rows.map(({ event }) => `data: ${JSON.stringify(event)}\n\n`).join('')),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  text,
)

/** Requests to every operation of the document. */
export function fuzzRequests(document: OpenApi): fc.Arbitrary<FuzzRequest> {
  const each = Object.entries(document.paths).flatMap(([route, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      (['tame', 'wild'] as const).map((manner) => requestOf(method.toUpperCase(), route, operation, manner)),
    ),
  )
  return fc.oneof(...each)
}

function requestOf(
  method: string,
  route: string,
  { parameters = [], requestBody }: Operation,
  manner: Manner,
): fc.Arbitrary<FuzzRequest> {
  const fields = route.includes('/projects/') ? { id: 'app' } : route.endsWith('/import') ? { id: 'runId' } : {}
  const meaning = (key: string): string => (key === 'id' ? (fields.id ?? key) : key)
  const segments = [...route.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key)
  const path = fc.tuple(...segments.map((key) => nearlyOf({ type: 'string' }, manner, meaning(key)))).map((values) => {
    let next = 0
    return route.replace(/\{\w+\}/g, () => encodeURIComponent(printed(values[next++])) || 'x')
  })
  const inQuery = parameters.filter((one) => one.in === 'query')
  const query = fc
    .record(Object.fromEntries(inQuery.map((one) => [one.name, nearlyOf(one.schema, manner, meaning(one.name))])), {
      requiredKeys: [],
    })
    .map((values) =>
      Object.entries(values)
        .map(([key, value]) => `${key}=${encodeURIComponent(printed(value))}`)
        .join('&'),
    )
  const content = Object.entries(requestBody?.content ?? {})
  const body =
    content.length === 0
      ? fc.constant({})
      : fc.oneof(...content.map(([type, { schema }]) => bodyOf(type, schema, route, manner)))
  return fc.tuple(path, query, body).map(([at, search, sent]) => ({
    method,
    route,
    path: search === '' ? at : `${at}?${search}`,
    ...sent,
  }))
}

function bodyOf(
  type: string,
  schema: Schema | undefined,
  route: string,
  manner: Manner,
): fc.Arbitrary<{ type: string; body: string }> {
  const good =
    route.endsWith('/import') || !type.includes('json')
      ? importText
      : nearlyOf(schema, manner).map((value) => JSON.stringify(value) ?? '')
  const bodies =
    manner === 'tame'
      ? good
      : fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: deep }, { weight: 1, arbitrary: text })
  return bodies.map((body) => ({ type, body: wellFormed(body) }))
}

function printed(value: unknown): string {
  return wellFormed(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

/** HTTP carries UTF-8, in which an unpaired surrogate cannot be written. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}
