import type { Recorded } from '@millrace/core'

/** Lines in the order of each author and of each tool, for agents that work at the same time. */
export function inLanes(lines: readonly string[]): readonly string[] {
  const lane = (line: string): string => /^[\w-]*/.exec(line)?.[0] ?? ''
  return [...lines].sort((a, b) => (lane(a) < lane(b) ? -1 : lane(a) > lane(b) ? 1 : 0))
}

/** The errors that agents reported, by author. */
export function errorsIn(rows: readonly Recorded[]): readonly string[] {
  return rows.flatMap(({ event }) => {
    if (event.kind !== 'agent' || event.event.errorCode === undefined) return []
    const { author, errorCode, errorMessage } = event.event
    return [`${author}: ${errorCode} ${errorMessage}`]
  })
}

/** A state as JSON, with its keys in order. */
export function plainState(state: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(JSON.stringify(state))
}
