import { isJsonObject, type Json, type ModelRequest } from '@millrace/core'

/** One content of a request or an answer, for people: who says it, and what. */
export interface Spoken {
  readonly role: string
  readonly parts: readonly SpokenPart[]
}
export interface SpokenPart {
  readonly kind: 'text' | 'thought' | 'call' | 'result' | 'other'
  readonly title?: string
  readonly text: string
}

export function spokenOf(content: Json): Spoken {
  const { role, parts } = fields(content)
  const list = Array.isArray(parts) ? parts : []
  return { role: typeof role === 'string' ? role : '', parts: list.map(partOf) }
}

function partOf(part: Json): SpokenPart {
  const { text, thought, functionCall, functionResponse } = fields(part)
  if (typeof text === 'string') return { kind: thought === true ? 'thought' : 'text', text }
  if (functionCall !== undefined) {
    const { name, args } = fields(functionCall)
    return { kind: 'call', title: String(name), text: readableJson(args ?? {}) }
  }
  if (functionResponse !== undefined) {
    const { name, response } = fields(functionResponse)
    return { kind: 'result', title: String(name), text: readableJson(response ?? null) }
  }
  return { kind: 'other', text: prettyJson(part) }
}

/** A request as one text, for the difference to another. */
export function requestWords({ system, contents }: ModelRequest): string {
  const told = system === undefined ? [] : [`system\n${systemText(system)}`]
  const said = contents.map((content) => {
    const { role, parts } = spokenOf(content)
    return `${role}\n${parts.map(({ title, text }) => (title === undefined ? text : `${title} ${text}`)).join('\n')}`
  })
  return [...told, ...said].join('\n\n')
}

export function systemText(system: Json): string {
  return typeof system === 'string'
    ? system
    : spokenOf(system)
        .parts.map(({ text }) => text)
        .join('\n') || prettyJson(system)
}

/** The names of the tools in a request, whichever provider's form they have. */
export function toolNames(tools: Json | undefined): readonly string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: Json): readonly string[] => {
    const { functionDeclarations, name, function: declared } = fields(tool)
    if (Array.isArray(functionDeclarations)) return toolNames(functionDeclarations)
    const own = name ?? fields(declared ?? null).name
    return typeof own === 'string' ? [own] : []
  })
}

export function prettyJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** JSON for reading: a line break inside a text is one, so that a report in a result has lines, also in a difference. */
export function readableJson(value: unknown): string {
  return prettyJson(value).replace(/\\(?:n|[^n])/g, (escaped) => (escaped === '\\n' ? '\n' : escaped))
}

function fields(value: Json): { readonly [key: string]: Json | undefined } {
  return isJsonObject(value) ? value : {}
}
