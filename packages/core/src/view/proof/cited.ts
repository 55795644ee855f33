import type { Citation, Proof, Source, Where } from './fact.ts'

/** A source that one or several answers and results cite. */
export interface CitedSource {
  readonly title: string
  /** The reference of a citation, or what a text says of the source, such as a date. */
  readonly detail?: string
  readonly excerpt?: string
  readonly uri?: string
  /** The authors that cite it, the first one first. */
  readonly by: readonly string[]
  /** Where it is cited first. */
  readonly from: Where
}

/** The sources of several proofs, each once: one that is named again adds its author, and what was not known of it. */
export function citedSources(proofs: readonly Proof[]): readonly CitedSource[] {
  const found: CitedSource[] = []
  const places = new Map<string, number>()
  const add = (cited: CitedSource): void => {
    const name = sourceKey(cited.title)
    const key = cited.detail === undefined ? name : `${name}\n${sourceKey(cited.detail)}`
    const at = places.get(key) ?? (cited.detail === undefined ? undefined : places.get(`${name}\n`))
    const known = at === undefined ? undefined : found[at]
    if (at === undefined || known === undefined) {
      places.set(key, found.length)
      // A bare name means the first source of that name; one with a detail completes a bare name.
      if (!places.has(name)) places.set(name, found.length)
      if (cited.detail === undefined) places.set(`${name}\n`, found.length)
      found.push(cited)
      return
    }
    places.set(key, at)
    if (known.detail === undefined && cited.detail !== undefined) places.delete(`${name}\n`)
    found[at] = { ...cited, ...known, by: known.by.includes(cited.by[0] ?? '') ? known.by : [...known.by, ...cited.by] }
  }
  for (const { author, citations, sources } of proofs) {
    for (const { source, reference, ...rest } of citations)
      add({ title: source, ...(reference === undefined ? {} : { detail: reference }), ...rest, by: [author] })
    for (const { text, ...rest } of sources) add({ title: text, ...rest, by: [author] })
  }
  return found
}

/** The sources of one text without those that it names twice, or that its citations have. */
export function uniqueSources(sources: readonly Source[], citations: readonly Citation[]): readonly Source[] {
  const cited = new Set(citations.map(({ source }) => sourceKey(source)))
  const kept = new Map<string, Source>()
  for (const source of sources) {
    const key = sourceKey(source.text)
    const known = kept.get(key)
    if (!cited.has(key)) kept.set(key, known === undefined ? source : { ...source, ...known })
  }
  return kept.size === sources.length ? sources : [...kept.values()]
}

export function uniqueBy<T>(list: readonly T[], key: (item: T) => string): readonly T[] {
  const kept = new Map<string, T>()
  for (const item of list) if (!kept.has(key(item))) kept.set(key(item), item)
  return kept.size === list.length ? list : [...kept.values()]
}

/** Case, white space and the punctuation around a name do not make another source. */
export function sourceKey(name: string): string {
  const key = name.toLowerCase().replace(/\s+/g, ' ')
  let from = 0
  let to = key.length
  while (from < to && around.has(key[from] ?? '')) from++
  while (from < to && around.has(key[to - 1] ?? '')) to--
  return key.slice(from, to)
}

/** Cut off one by one: the time of a regular expression for the end of a text grows with the square of its length. */
const around: ReadonlySet<string> = new Set(' "\'“”.')
