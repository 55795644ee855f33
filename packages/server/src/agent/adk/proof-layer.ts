import { z } from 'zod'

/** The evidence for a specialist's answer. Every field is as a tool stated it; nothing is filled in. */
export const proofLayer = z.object({
  /** 0 to 1. */
  confidence: z.number().min(0).max(1).optional(),
  citations: z
    .array(z.looseObject({ source: z.string(), reference: z.string().optional(), uri: z.string().optional() }))
    .optional(),
  reasoning_chain: z.array(z.string()).optional(),
})
export type ProofLayer = z.infer<typeof proofLayer>

/**
 * Merges the layers that a specialist's tools stated: citations and steps in order, without duplicates. The confidence is
 * the lowest one, because an answer is no surer than its evidence.
 */
export function mergeProof(layers: readonly ProofLayer[]): ProofLayer | undefined {
  if (layers.length === 0) return undefined
  const stated = layers.flatMap(({ confidence }) => confidence ?? [])
  const citations = unique(layers.flatMap((layer) => layer.citations ?? []))
  const steps = unique(layers.flatMap((layer) => layer.reasoning_chain ?? []))
  return {
    ...(stated.length === 0 ? {} : { confidence: Math.min(...stated) }),
    ...(citations.length === 0 ? {} : { citations }),
    ...(steps.length === 0 ? {} : { reasoning_chain: steps }),
  }
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}
