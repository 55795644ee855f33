/** What the search needs of a bar. */
interface Timed {
  readonly key: string
  readonly kind: 'run' | 'agent' | 'model' | 'tool'
  readonly path: string
  readonly run: string
  readonly startSeq: number
  readonly endSeq?: number
}

/**
 * The bars that decided when their run ended: from the end of the run backwards, always the bar that ended last before
 * that moment, and the same again inside it.
 */
export function criticalKeys(spans: readonly Timed[]): ReadonlySet<string> {
  const found = new Set<string>()
  const byRun = new Map<string, Timed[]>()
  for (const span of spans) {
    if (span.kind === 'run' || span.endSeq === undefined) continue
    const members = byRun.get(span.run)
    if (members === undefined) byRun.set(span.run, [span])
    else members.push(span)
  }
  for (const run of spans) {
    if (run.kind !== 'run' || run.endSeq === undefined) continue
    const members = byRun.get(run.run) ?? []
    if (members.length <= mostBars) walk(members, undefined, run.endSeq, run.startSeq, found)
  }
  return found
}

/** The search compares bars with each other, so that very long runs go without it. */
const mostBars = 200

function walk(
  members: readonly Timed[],
  parent: Timed | undefined,
  until: number,
  from: number,
  found: Set<string>,
): void {
  const inside = members.filter((each) => isChild(each, parent, members))
  let now = until
  for (;;) {
    const next = inside
      .filter(({ key, startSeq, endSeq = 0 }) => !found.has(key) && endSeq <= now && startSeq >= from)
      .reduce<Timed | undefined>(
        (best, each) => (best === undefined || (each.endSeq ?? 0) > (best.endSeq ?? 0) ? each : best),
        undefined,
      )
    if (next === undefined) return
    found.add(next.key)
    walk(members, next, next.endSeq ?? now, next.startSeq, found)
    now = next.startSeq
  }
}

/** Whether the bar is directly inside the parent: its path continues it, it lies within it, and nothing is between. */
function isChild(each: Timed, parent: Timed | undefined, members: readonly Timed[]): boolean {
  if (each === parent) return false
  const path = parent?.path
  if (path !== undefined && (!each.path.startsWith(`${path}/`) || !isWithin(each, parent as Timed))) return false
  return !members.some(
    (other) =>
      other !== each &&
      other !== parent &&
      other.path !== path &&
      each.path.startsWith(`${other.path}/`) &&
      (path === undefined || other.path.startsWith(`${path}/`)) &&
      isWithin(each, other),
  )
}

function isWithin({ startSeq, endSeq = 0 }: Timed, outer: Timed): boolean {
  return startSeq >= outer.startSeq && endSeq <= (outer.endSeq ?? Number.POSITIVE_INFINITY)
}
