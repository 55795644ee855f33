interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: unknown
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>
}
interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths?: Readonly<Record<string, unknown>>
}

/** The API for people: one page, no script, nothing from elsewhere. */
export function docsPage(document: object): string {
  const { info, tags = [], paths = {} } = document as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = tags.map(({ name, description = '' }) => {
    const rows = operations.filter(({ operation }) => operation.tags?.includes(name) === true).map(row)
    return `<h2>${text(name)}</h2><p>${text(description)}</p><dl>${rows.join('')}</dl>`
  })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)} API</title><style>${style}</style></head><body><main><h1>${text(info.title)} ${text(info.version)}</h1>
<p>${text(info.description ?? '')} As a document: <a href="openapi.json">openapi.json</a>.</p>${sections.join('')}</main></body></html>`
}

function row({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  const takes = [...(operation.requestBody === undefined ? [] : ['a JSON body']), ...query.map((name) => `?${name}=`)]
  const answer = Object.entries(operation.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { description = '' }]) => `${status} ${description}`)
  const details = [
    takes.length > 0 ? `Takes ${takes.join(', ')}.` : '',
    answer.length > 0 ? `Answers ${answer.join(', ')}.` : '',
  ]
  return `<dt><b>${text(method.toUpperCase())}</b> <code>${text(path)}</code></dt><dd>${text(operation.summary ?? '')}
<small>${text(details.join(' '))}</small></dd>`
}

const text = (value: string): string => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style = `:root{color-scheme:light dark;font:16px/1.6 system-ui,sans-serif;background:light-dark(#fbfcfc,#14181b);color:light-dark(#1b2329,#e6eaed)}
main{max-width:52rem;margin:3rem auto;padding:0 1.5rem}h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2.5rem;border-top:1px solid light-dark(#d9dee3,#2c3339);padding-top:1.5rem}
dt{margin-top:1rem;font-family:ui-monospace,monospace;font-size:.9rem}dt b{display:inline-block;min-width:4.5rem;color:light-dark(#0b6e6e,#5cc4bd)}dd{margin:0 0 0 4.5rem}small{display:block;color:light-dark(#5b6670,#97a3ad)}a{color:inherit}`
