interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}
interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
}
interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths?: Readonly<Record<string, unknown>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}
interface Field {
  readonly name: string
  readonly type: string
  readonly needed: boolean
  readonly about: string
}

/** The API as one HTML page for people, without scripts and without anything from other sites. */
export function docsPage(document: object): string {
  const { info, tags = [], paths = {}, components } = document as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = tags.map(({ name, description = '' }) => {
    const rows = operations.filter(({ operation }) => operation.tags?.includes(name) === true).map(row)
    return `<section id="${text(name)}"><h2>${text(name)}</h2><p>${text(description)}</p>${rows.join('')}</section>`
  })
  const shapes = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) =>
      `<article id="shape-${text(name)}"><h3><code>${text(name)}</code></h3>${table(fieldsOf(schema))}</article>`,
  )
  const links = [...tags.map(({ name }) => name), 'Shapes'].map((name) => `<a href="#${text(name)}">${text(name)}</a>`)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)} API</title><style>${style}</style></head><body><main><h1>${text(info.title)} ${text(info.version)}</h1>
<p>${text(info.description ?? '')} The same as OpenAPI: <a href="openapi.json">openapi.json</a>.</p><nav>${links.join(' ')}</nav>
${sections.join('')}<section id="Shapes"><h2>Shapes</h2><p>The types that answers refer to.</p>${shapes.join('')}</section></main></body></html>`
}

function row({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query').map(queryField)
  const bodies = Object.entries(operation.requestBody?.content ?? {})
  const body = bodies[0]?.[1].schema ?? {}
  const answers = Object.entries(operation.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { description = '', content = {} }]) => {
      const [type = '', media] = Object.entries(content)[0] ?? []
      return `<p class="answer"><b>${text(status)}</b> ${text(description)} <small>${shapeName(media?.schema) ?? text(type)}</small></p>`
    })
  const takes = bodies.map(([type]) => text(type)).join(', ')
  const given = [
    ...(query.length > 0 ? [`<details><summary>Query</summary>${table(query)}</details>`] : []),
    ...(bodies.length > 0
      ? [`<details><summary>Body <small>${takes}</small></summary>${table(fieldsOf(body))}</details>`]
      : []),
  ]
  return `<article><h3><b>${text(method.toUpperCase())}</b><code>${text(path)}</code></h3><p>${text(operation.summary ?? '')}</p>
${given.join('')}${answers.join('')}</article>`
}

const queryField = ({ name, required = false, description = '', schema = {} }: Parameter): Field => ({
  name,
  type: typeOf(schema),
  needed: required,
  about: description === '' ? (schema.description ?? '') : description,
})

/** The fields of an object; any other schema is one field without a name. */
function fieldsOf(schema: Schema): readonly Field[] {
  const { properties, required = [], anyOf = [] } = schema
  const inner = anyOf.find((each) => each.properties !== undefined)
  if (properties === undefined && inner !== undefined) return fieldsOf(inner)
  if (properties === undefined)
    return [{ name: '', type: typeOf(schema), needed: true, about: schema.description ?? '' }]
  return Object.entries(properties).map(([name, field]) => ({
    name,
    type: typeOf(field),
    needed: required.includes(name),
    about: field.description ?? '',
  }))
}

function typeOf(schema: Schema): string {
  const { type, items, anyOf, enum: values } = schema
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  if (values !== undefined && values.length <= 10) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (type === 'array') return `${typeOf(items ?? {})}[]`
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ')
  return type === undefined ? 'any' : [type].flat().join(' | ')
}

function shapeName(schema: Schema | undefined): string | undefined {
  const { $ref, items } = schema ?? {}
  const name = ($ref ?? items?.$ref)?.split('/').at(-1)
  return name === undefined
    ? undefined
    : `<a href="#shape-${text(name)}">${text(name)}</a>${$ref === undefined ? '[]' : ''}`
}

function table(fields: readonly Field[]): string {
  const rows = fields.map(
    ({ name, type, needed, about }) =>
      `<tr><td><code>${text(name)}</code></td><td><small>${text(type)}${needed ? '' : ', optional'}</small></td><td>${text(about)}</td></tr>`,
  )
  return `<table>${rows.join('')}</table>`
}

const text = (value: string): string => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style = `:root{color-scheme:light dark;font:16px/1.6 system-ui,sans-serif;background:light-dark(#fbfcfc,#14181b);color:light-dark(#1b2329,#e6eaed);--line:light-dark(#d9dee3,#2c3339);--quiet:light-dark(#5b6670,#97a3ad);--mark:light-dark(#0b6e6e,#5cc4bd)}
main{max-width:56rem;margin:3rem auto;padding:0 1.5rem}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:3rem;border-top:1px solid var(--line);padding-top:1.5rem}
nav{display:flex;flex-wrap:wrap;gap:1rem}a{color:var(--mark)}article{margin:1.5rem 0}article p{margin:.1rem 0}h3{font:600 .9rem/1.6 ui-monospace,monospace;margin:0;overflow-wrap:anywhere}
h3 b{display:inline-block;min-width:4.5rem;color:var(--mark)}code{font-family:ui-monospace,monospace}section>article>:not(h3){margin-left:4.5rem}small{color:var(--quiet)}.answer b{color:var(--quiet)}
summary{cursor:pointer;color:var(--quiet)}table{border-collapse:collapse;table-layout:fixed;width:100%;font-size:.9rem}article>table{width:calc(100% - 4.5rem)}td{border-top:1px solid var(--line);padding:.25rem .75rem .25rem 0;vertical-align:top;overflow-wrap:anywhere}td:first-child{width:28%}
@media(max-width:40rem){section>article>:not(h3){margin-left:0}article>table{width:100%}}`
