import { sourceKey, uniqueBy, uniqueSources } from './cited.ts'
import type { Citation, Confidence, Proof, Reasoning, Where } from './fact.ts'
import { type ReadProofLayer, readProofLayer } from './layer.ts'
import type { ResultParts } from './result.ts'
import { proofInText, type TextProof } from './text.ts'

/** One place to read from: the parts of a result, and their place in the log. */
export interface ProofReading {
  readonly parts: ResultParts
  readonly where: Omit<Where, 'origin' | 'start' | 'end'>
}

export type ProofHead = Pick<Proof, 'id' | 'kind' | 'author' | 'run' | 'seq' | 'message' | 'call' | 'node'>

/** A proof and the layer that it used, so that the same layer in the state is not shown twice. */
export interface Assembled {
  readonly proof: Proof
  readonly layer?: ReadProofLayer
}

/**
 * Reads the structured layer first; what it lacks (or everything, if it was refused) is read from the texts. Each value
 * keeps its own origin, so that the two are never confused.
 */
export function assemble(
  head: ProofHead,
  readings: readonly ProofReading[],
  given: { readonly citations?: readonly Citation[]; readonly reasoning?: Reasoning },
): Assembled {
  const found = readings.find(({ parts }) => parts.layer !== undefined)
  const read = found?.parts.layer === undefined ? undefined : readProofLayer(found.parts.layer.value)
  const layer = read === undefined || 'reason' in read ? undefined : read
  const stated: Where = {
    origin: 'stated',
    ...(found?.where ?? { seq: head.seq }),
    ...pathField(found?.parts.layer?.path),
  }
  const confidence: Confidence | undefined =
    layer?.confidence === undefined ? undefined : { value: layer.confidence, from: stated }
  const texts = readings.flatMap(({ parts, where }) =>
    parts.texts.map(({ text, path }) => proofInText(text, { ...where, ...pathField(path) })),
  )
  const overall = confidence ?? overallOf(texts)
  const citations = uniqueBy(
    [...(layer?.citations ?? []).map((citation) => ({ ...citation, from: stated })), ...(given.citations ?? [])],
    ({ source, reference, uri }) => [source, reference, uri].map((field) => sourceKey(field ?? '')).join('\n'),
  )
  const reasoning = layer?.reasoning === undefined ? given.reasoning : statedReasoning(layer.reasoning)
  return {
    proof: {
      ...head,
      ...(overall === undefined ? {} : { confidence: overall }),
      confidences: [...(confidence === undefined ? [] : [confidence]), ...texts.flatMap((text) => text.confidences)],
      sources: uniqueSources(
        texts.flatMap((text) => text.sources),
        citations,
      ),
      citations,
      regulatoryBasis: uniqueBy(
        texts.flatMap((text) => text.regulatoryBasis),
        ({ text }) => sourceKey(text),
      ),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(read !== undefined && 'reason' in read
        ? { refused: { path: found?.parts.layer?.path ?? '', reason: read.reason } }
        : {}),
    },
    ...(layer === undefined ? {} : { layer }),
  }
}

/** Whether the proof has any stated or parsed value, or a layer that was refused. */
export function hasEvidence({ confidences, sources, citations, regulatoryBasis, reasoning, refused }: Proof): boolean {
  const lists = [confidences, sources, citations, regulatoryBasis]
  return lists.some((list) => list.length > 0) || reasoning?.origin === 'stated' || refused !== undefined
}

export function sameLayer(a: ReadProofLayer, b: ReadProofLayer): boolean {
  if (a.confidence !== b.confidence || a.citations.length !== b.citations.length) return false
  if (a.reasoning?.length !== b.reasoning?.length) return false
  if (a.reasoning?.some((step, index) => step !== b.reasoning?.[index])) return false
  return a.citations.every((citation, index) => {
    const other = b.citations[index]
    return citation.source === other?.source && citation.reference === other.reference && citation.uri === other.uri
  })
}

/** The overall confidence of several texts: the one called overall, else that of the only text that has any. */
function overallOf(texts: readonly TextProof[]): Confidence | undefined {
  const overall = texts.findLast(({ confidence }) => confidence?.overall)
  if (overall !== undefined) return overall.confidence
  const stating = texts.filter(({ confidences }) => confidences.length > 0)
  return stating.length === 1 ? stating[0]?.confidence : undefined
}

function statedReasoning(steps: readonly string[]): Reasoning {
  return { origin: 'stated', steps: steps.map((text) => ({ text })), omitted: 0 }
}

function pathField(path: string | undefined): { path?: string } {
  return path === undefined || path === '' ? {} : { path }
}

/**
 * A specialist's own message and the response that brings it to the caller are one result. It is the message's, with the
 * specialist's calls; the evidence is that of whichever states it in a structured field.
 */
export function oneResult(message: Proof, response: Proof): Proof {
  const { id, author, seq, reasoning } = message
  const better = hasEvidence(response) && (!hasEvidence(message) || (isStated(response) && !isStated(message)))
  const merged = better ? { ...message, ...response } : { ...response, ...message }
  const call = response.call === undefined ? {} : { call: response.call }
  return {
    ...merged,
    ...call,
    id,
    author,
    seq,
    ...messageFields(message),
    ...reasoningField(merged.reasoning ?? reasoning),
  }
}

function isStated({ confidences, citations, refused }: Proof): boolean {
  return refused !== undefined || [...confidences, ...citations].some(({ from }) => from.origin === 'stated')
}

function messageFields({ kind, message, node }: Proof): Pick<Proof, 'kind' | 'message' | 'node'> {
  return { kind, ...(message === undefined ? {} : { message }), ...(node === undefined ? {} : { node }) }
}

function reasoningField(reasoning: Reasoning | undefined): { reasoning?: Reasoning } {
  return reasoning === undefined ? {} : { reasoning }
}
