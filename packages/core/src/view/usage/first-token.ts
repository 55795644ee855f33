/** Waits for a model's first token, in milliseconds. */
export interface FirstToken {
  readonly calls: number
  readonly total: number
  readonly last: number
  readonly longest: number
}

export function waited(before: FirstToken | undefined, time: number): FirstToken {
  const last = Math.max(0, time)
  if (before === undefined) return { calls: 1, total: last, last, longest: last }
  return { calls: before.calls + 1, total: before.total + last, last, longest: Math.max(before.longest, last) }
}
