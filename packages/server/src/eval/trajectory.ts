import { keysSorted } from '../agent/model/tape.ts'
import type { MatchType, ToolUse } from './eval-set.ts'

/** Whether the tools were called as expected: 1 or 0. A call is the same if its name and its arguments are. */
export function trajectoryScore(
  actual: readonly ToolUse[],
  expected: readonly ToolUse[],
  match: MatchType = 'EXACT',
): 0 | 1 {
  const made = actual.map(textOf)
  const wanted = expected.map(textOf)
  return matches[match](made, wanted) ? 1 : 0
}

type Match = (made: readonly string[], wanted: readonly string[]) => boolean

const matches: Readonly<Record<MatchType, Match>> = {
  EXACT: (made, wanted) => made.length === wanted.length && made.every((call, i) => call === wanted[i]),
  IN_ORDER(made, wanted) {
    let found = 0
    for (const call of made) if (call === wanted[found]) found += 1
    return found === wanted.length
  },
  ANY_ORDER(made, wanted) {
    const left = [...made]
    return wanted.every((call) => {
      const at = left.indexOf(call)
      if (at >= 0) left.splice(at, 1)
      return at >= 0
    })
  },
}

const textOf = ({ name, args }: ToolUse): string => JSON.stringify([name, keysSorted(args)])
