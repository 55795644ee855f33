import { type Sample, samples } from './api-samples.ts'

/** One operation of the OpenAPI document, as far as a request for it needs it. */
export interface Operation {
  readonly method: string
  readonly path: string
  /** Answers without a proof of who asks. */
  readonly open: boolean
  /** Only operators may use it. */
  readonly operator: boolean
  readonly body?: JsonSchema
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
}

interface OpenApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly security?: readonly unknown[]
            readonly 'x-operator'?: boolean
            readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: JsonSchema }>> }
          }
        >
      >
    >
  >
}

export function operationsOf(document: object): readonly Operation[] {
  return Object.entries((document as OpenApiDocument).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, requestBody, 'x-operator': operator = false }]) => {
      const body = Object.values(requestBody?.content ?? {})[0]?.schema
      const known = { method: method.toUpperCase(), path, open: security?.length === 0, operator }
      return body === undefined ? known : { ...known, body }
    }),
  )
}

/**
 * A request for an operation that is about the things of `session`. Operations with a sample use that one; any other,
 * such as a route that was added a minute ago, is filled in from the document.
 */
export function requestFor(operation: Operation, session: string): Sample {
  const { method, path, body } = operation
  const known = samples.find((sample) => sample.method === method && sample.path === path)
  if (known !== undefined) return known
  const at = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(fillOf(name, session)))
  return { method, path, at, ...(body === undefined ? {} : { body: exampleOf(body, '', session) }) }
}

/** What a parameter or a field of this name most likely means. */
function fillOf(name: string, session: string): string {
  if (/^user(Id)?$/i.test(name)) return 'user'
  if (/^(app|agent)(Name)?$/i.test(name)) return 'echo'
  return /^(id|session|thread)(_?id)?$/i.test(name) ? session : 'x'
}

function exampleOf(schema: JsonSchema, name: string, session: string): unknown {
  const { properties, items, enum: choices, anyOf, allOf, oneOf } = schema
  const type = [schema.type].flat()[0]
  const inner = (anyOf ?? allOf ?? oneOf)?.[0]
  if (choices !== undefined) return choices[0]
  if (inner !== undefined) return exampleOf(inner, name, session)
  if (type === 'array') return items === undefined ? [] : [exampleOf(items, name, session)]
  if (type === 'number' || type === 'integer') return 1
  if (type === 'boolean') return true
  if (type === 'string') return fillOf(name, session)
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([key, property]) => [key, exampleOf(property, key, session)]),
  )
}
