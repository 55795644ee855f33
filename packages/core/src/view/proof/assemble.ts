import type { Citation, Confidence, Proof, Reasoning, Where } from './fact.ts'
import { type ReadProofLayer, readProofLayer } from './layer.ts'
import type { ResultParts } from './result.ts'
import { proofInText, type TextProof } from './text.ts'

/** One place to read from: the parts of a result, and where they stand. */
export interface ProofReading {
  readonly parts: ResultParts
  readonly where: Omit<Where, 'origin' | 'start' | 'end'>
}

export type ProofHead = Pick<Proof, 'id' | 'kind' | 'author' | 'run' | 'seq' | 'message' | 'call' | 'node'>

/** A proof and the layer that it used, so that the same layer met again in the state is not shown twice. */
export interface Assembled {
  readonly proof: Proof
  readonly layer?: ReadProofLayer
}

/**
 * The structured layer first; what it does not say (or all, when it was refused) is read from the texts. Each value
 * keeps its own origin, so the two never blur.
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
    ...pathOf(found?.parts.layer?.path),
  }
  const confidence: Confidence | undefined =
    layer?.confidence === undefined ? undefined : { value: layer.confidence, from: stated }
  const texts = readings.flatMap(({ parts, where }) =>
    parts.texts.map(({ text, path }) => proofInText(text, { ...where, ...pathOf(path) })),
  )
  const overall = confidence ?? overallOf(texts)
  const reasoning = layer?.reasoning === undefined ? given.reasoning : statedReasoning(layer.reasoning)
  return {
    proof: {
      ...head,
      ...(overall === undefined ? {} : { confidence: overall }),
      confidences: [...(confidence === undefined ? [] : [confidence]), ...texts.flatMap((text) => text.confidences)],
      sources: texts.flatMap((text) => text.sources),
      citations: [
        ...(layer?.citations ?? []).map((citation) => ({ ...citation, from: stated })),
        ...(given.citations ?? []),
      ],
      regulatoryBasis: texts.flatMap((text) => text.regulatoryBasis),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(read !== undefined && 'reason' in read
        ? { refused: { path: found?.parts.layer?.path ?? '', reason: read.reason } }
        : {}),
    },
    ...(layer === undefined ? {} : { layer }),
  }
}

/** Anything at all that somebody stated, or tried to. */
export function saysSomething({
  confidences,
  sources,
  citations,
  regulatoryBasis,
  reasoning,
  refused,
}: Proof): boolean {
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

/** Over several texts of one subject: the one called overall, else the only text's that speaks of confidence at all. */
function overallOf(texts: readonly TextProof[]): Confidence | undefined {
  const called = texts.findLast(({ confidence }) => confidence?.overall)
  if (called !== undefined) return called.confidence
  const speaking = texts.filter(({ confidences }) => confidences.length > 0)
  return speaking.length === 1 ? speaking[0]?.confidence : undefined
}

function statedReasoning(steps: readonly string[]): Reasoning {
  return { origin: 'stated', steps: steps.map((text) => ({ text })), omitted: 0 }
}

function pathOf(path: string | undefined): { path?: string } {
  return path === undefined || path === '' ? {} : { path }
}
