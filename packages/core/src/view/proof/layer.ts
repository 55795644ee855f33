import { isObject } from '../../json/json.ts'
import type { Citation, Where } from './fact.ts'
import { brokenJson } from './result.ts'

/** A `proof_layer` that keeps its contract: confidence 0..1, citations, reasoning chain, each optional. */
export interface ReadProofLayer {
  readonly confidence?: number
  readonly citations: readonly Omit<Citation, 'from'>[]
  readonly reasoning?: readonly string[]
}

/**
 * All or nothing: a layer with one bad field is not used at all, because a producer that writes confidence 7 may mean
 * anything by the rest. ADK itself does not enforce an output schema (it only logs), so this is the only check.
 */
export function readProofLayer(value: unknown): ReadProofLayer | { readonly reason: string } {
  if (value === brokenJson) return { reason: 'the JSON that holds the proof_layer cannot be read' }
  if (!isObject(value)) return { reason: `proof_layer must be an object, not ${shown(value)}` }
  const { confidence, citations, reasoning_chain: chain } = value
  if (isGiven(confidence) && !(typeof confidence === 'number' && confidence >= 0 && confidence <= 1)) {
    return { reason: `confidence must be a number from 0 to 1, not ${shown(confidence)}` }
  }
  if (isGiven(citations) && !Array.isArray(citations)) {
    return { reason: `citations must be an array, not ${shown(citations)}` }
  }
  if (isGiven(chain) && !Array.isArray(chain)) {
    return { reason: `reasoning_chain must be an array, not ${shown(chain)}` }
  }
  const read: Omit<Citation, 'from'>[] = []
  for (const [index, raw] of (Array.isArray(citations) ? citations : []).entries()) {
    const citation = readCitation(raw)
    if (citation === undefined) return { reason: `citations[${index}] must have a source, not ${shown(raw)}` }
    read.push(citation)
  }
  const steps: string[] = []
  for (const [index, step] of (Array.isArray(chain) ? chain : []).entries()) {
    if (typeof step !== 'string') return { reason: `reasoning_chain[${index}] must be a string, not ${shown(step)}` }
    steps.push(step)
  }
  return {
    ...(typeof confidence === 'number' ? { confidence } : {}),
    citations: read,
    ...(steps.length > 0 ? { reasoning: steps } : {}),
  }
}

/** `source` and `reference` as the contract names them; RANGER's own briefing events say `source_type` and `id`. */
function readCitation(raw: unknown): Omit<Citation, 'from'> | undefined {
  if (!isObject(raw)) return undefined
  const source = raw.source ?? raw.source_type
  const reference = raw.reference ?? raw.id
  const { uri, excerpt } = raw
  if (typeof source !== 'string' || source === '') return undefined
  for (const field of [reference, uri, excerpt]) if (isGiven(field) && typeof field !== 'string') return undefined
  return {
    source,
    ...(typeof reference === 'string' ? { reference } : {}),
    ...(typeof uri === 'string' ? { uri } : {}),
    ...(typeof excerpt === 'string' ? { excerpt } : {}),
  }
}

/** The citations of the model itself: Gemini's grounding chunks and citation metadata. */
export function groundingCitations(event: Readonly<Record<string, unknown>>, seq: number): readonly Citation[] {
  const found: Citation[] = []
  const take = (list: unknown, path: string, pick: (item: Readonly<Record<string, unknown>>) => unknown): void => {
    if (!Array.isArray(list)) return
    for (const [index, item] of list.entries()) {
      const cited = isObject(item) ? pick(item) : undefined
      if (!isObject(cited)) continue
      const { uri, title } = cited
      const source = typeof title === 'string' && title !== '' ? title : uri
      if (typeof source !== 'string' || source === '') continue
      const from: Where = { origin: 'stated', seq, path: `${path}.${index}` }
      found.push({ source, ...(typeof uri === 'string' ? { uri } : {}), from })
    }
  }
  const { groundingMetadata: grounding, citationMetadata: citation } = event
  if (isObject(grounding)) {
    take(grounding.groundingChunks, 'groundingMetadata.groundingChunks', (chunk) => chunk.web ?? chunk.retrievedContext)
  }
  if (isObject(citation)) take(citation.citations, 'citationMetadata.citations', (item) => item)
  return found
}

/** Python writes null for what is absent. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** A short form of any value for a sentence: user data is not copied into messages. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (Array.isArray(value)) return 'an array'
  return isObject(value) ? 'an object' : String(value)
}
