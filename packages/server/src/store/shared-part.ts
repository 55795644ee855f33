/** Rows that a fork shares: those of the session with this key up to a seq, after the part before it. */
export interface SharedPart<Key> {
  readonly origin: Key
  readonly upTo: number
}

/** The parts of a fork of a session at a seq. Those before an origin are always the parts of that origin itself. */
export function partsOfFork<Key>(
  { key, parts }: { readonly key: Key; readonly parts: readonly SharedPart<Key>[] },
  seq: number,
): readonly SharedPart<Key>[] {
  const fork: SharedPart<Key>[] = []
  let from = 0
  for (const { origin, upTo } of [...parts, { origin: key, upTo: seq }]) {
    if (from < seq && upTo > from) fork.push({ origin, upTo: Math.min(upTo, seq) })
    from = Math.max(from, upTo)
  }
  return fork
}
