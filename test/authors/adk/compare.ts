import { applyState, type JsonObject, type Recorded } from '@millrace/core'
import { spoken } from '../kit/spoken.ts'
import type { WireName } from '../kit/wires.ts'
import type { Conversations } from './conversations.ts'

/** What was said and done, as a wire can carry it; without a wire, as the log has it. */
export function linesOf(
  rows: readonly Recorded[],
  { parallel = false, hidden = [] }: Conversations,
  wire?: WireName,
): readonly string[] {
  const all = spoken(rows)
    .map((line) => (wire === 'plan' ? line.replace(/^[\w-]*(?=: | calls )/, '') : line))
    .map((line) => line.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'))
    .map((line) => line.replaceAll(/adk-[\da-f-]{36}/g, '<id>'))
    .filter((line) => !hidden.some((begin) => line.startsWith(begin) || line.startsWith(` calls ${begin}`)))
  const shown = (parallel ? inLanes(all) : all).filter((line) => !asInterrupt.has(wire) || !isAsked(line))
  if (wire === 'ag-ui') return shown.map(withoutCaller)
  if (wire === 'studio') return joined(shown)
  if (wire !== 'plan') return shown
  // Without authors, the texts of agents that are not compared cannot be told from the others.
  const isMixed = parallel || hidden.some((begin) => !begin.includes(' '))
  return joined(isMixed ? shown.filter(isOfTool) : shown).map(withTextResult)
}

/** On these wires, ADK's call for a confirmation is an interrupt and nothing else. */
const asInterrupt: ReadonlySet<WireName | undefined> = new Set<WireName>(['ag-ui', 'studio'])
const isAsked = (line: string): boolean => / calls adk_request_confirmation /.test(line)

/** Lines in the order of each author and of each tool, for agents that work at the same time. */
function inLanes(lines: readonly string[]): readonly string[] {
  const lane = (line: string): string => /^[\w-]*/.exec(line)?.[0] ?? ''
  return [...lines].sort((a, b) => (lane(a) < lane(b) ? -1 : lane(a) > lane(b) ? 1 : 0))
}

/** AG-UI has no place for the author of a call. */
const withoutCaller = (line: string): string => line.replace(/^[\w-]+(?= calls )/, '')

const isOfTool = (line: string): boolean => / calls | answers /.test(line)

/** Bare text: two messages of one author are one when nothing is between them. */
function joined(lines: readonly string[]): readonly string[] {
  const result: string[] = []
  for (const line of lines) {
    const author = /^[\w-]*: /.exec(line)?.[0]
    const before = result.at(-1)
    if (author !== undefined && before?.startsWith(author))
      result[result.length - 1] = before + line.slice(author.length)
    else result.push(line)
  }
  return result
}

/** On the plan wire the result of a tool is text. */
function withTextResult(line: string): string {
  const [, tool, json] = /^([\w-]+) answers (.*)$/.exec(line) ?? []
  if (json === undefined) return line
  const { result, ...more } = JSON.parse(json) as Record<string, unknown>
  const isText = typeof result === 'string' && Object.keys(more).length === 0
  return isText ? line : `${tool} answers ${JSON.stringify({ result: json })}`
}

/** The errors that agents reported, by author. */
export function errorsIn(rows: readonly Recorded[]): readonly string[] {
  return rows.flatMap(({ event }) => {
    if (event.kind !== 'agent' || event.event.errorCode === undefined) return []
    const { author, errorCode, errorMessage } = event.event
    return [`${author}: ${errorCode} ${errorMessage}`]
  })
}

/** The state by the rows alone. */
export const foldState = (rows: readonly Recorded[]): JsonObject =>
  rows.reduce<JsonObject>((state, { event }) => applyState(state, event), {})
