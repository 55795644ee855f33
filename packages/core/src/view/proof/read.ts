import type { AdkFunctionResponse } from '../../event/adk-event.ts'
import { partsOf, responseOf, textOf } from '../../event/parts.ts'
import type { AgentSaid } from '../../event/run-event.ts'
import { isObject, type PatchOp } from '../../json/json.ts'
import { type Assembled, assemble, hasEvidence, type ProofReading, sameLayer } from './assemble.ts'
import type { Reasoning } from './fact.ts'
import { groundingCitations, readProofLayer } from './layer.ts'
import { type ResultParts, resultParts } from './result.ts'

/** An event and its place in the log. */
export interface SaidEvent {
  readonly said: AgentSaid
  readonly run: string
  readonly seq: number
}

/** Internal functions of ADK: their responses are no evidence. */
const plumbing = /^(?:transfer_to_agent|exit_loop|adk_request_\w{1,60})$/

/** Message and call ids are unique only within a run: on wires without ids they count from one. */
export function proofId(run: string, what: 'message' | 'call' | 'response' | 'state', id: string): string {
  return `${run}/${what}/${id}`
}

/** The texts of an event without its thoughts. */
export function textsOf({ event }: AgentSaid): readonly { readonly text: string; readonly part: number }[] {
  return partsOf(event.content).flatMap((each, part) =>
    textOf(each) !== '' && each.thought !== true ? [{ text: textOf(each), part }] : [],
  )
}

export interface ProofSpeaker {
  /** Its text goes to the agent that called it, not to the user. */
  readonly toCaller: boolean
  readonly reasoning: Reasoning | undefined
}

/** The proof of a message: from its text, its output, or a layer that its output key wrote into the state. */
export function messageProof(
  { said, run, seq }: SaidEvent,
  texts: readonly { readonly text: string; readonly part?: number }[],
  { toCaller, reasoning }: ProofSpeaker,
): Assembled | undefined {
  const { event, message, node } = said
  const where = { seq, message }
  const readings: ProofReading[] = texts.map(({ text, part }) => ({
    parts: resultParts(text),
    where: part === undefined ? where : { ...where, part },
  }))
  const spoke = texts.some(({ text }) => /\S/.test(text))
  if (isObject(event.output)) readings.push({ parts: resultParts(event.output, 'output'), where })
  if (spoke)
    readings.push(...deltaReadings(said, seq).map(({ parts, where }) => ({ parts: { ...parts, texts: [] }, where })))
  const citations = groundingCitations(event, seq)
  if (!spoke && citations.length === 0 && !readings.some(({ parts }) => parts.layer !== undefined)) return undefined
  const head = {
    id: proofId(run, 'message', message),
    kind: toCaller ? ('specialist' as const) : ('answer' as const),
    author: event.author,
    run,
    seq,
    message,
    ...(node === undefined ? {} : { node }),
  }
  return assemble(head, readings, { citations, ...(reasoning === undefined ? {} : { reasoning }) })
}

/**
 * The proofs of a function response: of its own result, and of the named results of others inside it. A function is a tool
 * unless an agent is known to have answered, whatever its result looks like.
 */
export function responseProofs(
  { said: { message, node }, run, seq }: SaidEvent,
  part: number,
  { id: given, name, response }: AdkFunctionResponse,
  fromAgent: boolean,
): readonly Assembled[] {
  const call = given === '' ? undefined : given
  if (plumbing.test(name)) return []
  const id = call === undefined ? proofId(run, 'response', `${seq}.${part}`) : proofId(run, 'call', call)
  const which = call === undefined ? {} : { call }
  const where = { seq, message, part, ...which }
  const parts = resultParts(response)
  const head = { run, seq, message, ...which, ...(node === undefined ? {} : { node }) }
  const kind = fromAgent ? ('specialist' as const) : ('tool' as const)
  const inner = parts.inner.map((result) =>
    assemble(
      { ...head, kind: 'specialist', id: `${id}/${result.name}`, author: result.name },
      [{ parts: result.parts, where }],
      {},
    ),
  )
  const own = assemble({ ...head, kind, id, author: name }, [{ parts, where }], {})
  return inner.length > 0 && !hasEvidence(own.proof) ? inner : [own, ...inner]
}

/** Proofs of layers that the event wrote into the state and that are in no other part of it. */
export function stateProofs(event: SaidEvent, made: readonly Assembled[]): readonly Assembled[] {
  return deltaReadings(event.said, event.seq).flatMap(({ key, ...reading }) => {
    const found = stateProof(event, key, reading, event.said)
    const known = made.some(({ layer, proof }) =>
      found.layer === undefined
        ? proof.refused?.reason === found.proof.refused?.reason
        : layer !== undefined && sameLayer(layer, found.layer),
    )
    return known ? [] : [found]
  })
}

/** Proofs of layers in a patch: at `/burn_report`, at `/burn_report/proof_layer`, or in a state replaced as a whole. */
export function patchProofs(at: Omit<SaidEvent, 'said'>, patch: readonly PatchOp[]): readonly Assembled[] {
  return patch.flatMap((op) => {
    if (op.op !== 'add' && op.op !== 'replace') return []
    const path = op.path.slice(1).replaceAll('/', '.')
    const values = op.path === '' && isObject(op.value) ? Object.entries(op.value) : [[path, op.value] as const]
    return values.flatMap(([key, value]) => {
      const alone = /(?:^|\.)proof_layer$/.test(key)
      const parts = alone ? { layer: { value, path: key }, texts: [], inner: [] } : layerParts(value, key)
      return parts === undefined ? [] : [stateProof(at, key, { parts, where: { seq: at.seq } })]
    })
  })
}

function stateProof(
  { run, seq }: Omit<SaidEvent, 'said'>,
  key: string,
  reading: ProofReading,
  said?: AgentSaid,
): Assembled {
  const head = {
    id: proofId(run, 'state', `${seq}.${key}`),
    kind: 'specialist' as const,
    author: said?.event.author ?? '',
    run,
    seq,
  }
  return assemble(said === undefined ? head : { ...head, message: said.message }, [reading], {})
}

function deltaReadings(
  { event, message }: AgentSaid,
  seq: number,
): readonly (ProofReading & { readonly key: string })[] {
  const delta = event.actions?.stateDelta
  if (!isObject(delta)) return []
  return Object.entries(delta).flatMap(([key, value]) => {
    const parts = layerParts(value, key)
    return parts === undefined ? [] : [{ key, parts, where: { seq, message } }]
  })
}

/** A state has arbitrary values: only one that contains a layer is read. */
function layerParts(value: unknown, path: string): ResultParts | undefined {
  const holds = isObject(value)
    ? Object.hasOwn(value, 'proof_layer')
    : typeof value === 'string' && value.includes('"proof_layer"')
  const parts = holds ? resultParts(value, path) : undefined
  return parts?.layer === undefined ? undefined : parts
}

/** The layers of an event that break their contract, for the problems view: found as above, without reading any text. */
export function refusedLayers({ said, seq }: Pick<SaidEvent, 'said' | 'seq'>): readonly Refused[] {
  const { event } = said
  const found: Refused[] = []
  const check = ({ layer, inner }: ResultParts, call?: string): void => {
    const read = layer === undefined ? undefined : readProofLayer(layer.value)
    if (read !== undefined && 'reason' in read && !found.some(({ reason }) => reason === read.reason)) {
      found.push({ reason: read.reason, ...(call === undefined ? {} : { call }) })
    }
    for (const { parts } of inner) check(parts, call)
  }
  for (const part of partsOf(event.content)) {
    const response = responseOf(part)
    if (response !== undefined) check(resultParts(response.response), response.id)
  }
  if (event.author !== 'user') for (const { text } of textsOf(said)) check(resultParts(text))
  if (isObject(event.output)) check(resultParts(event.output))
  for (const { parts } of deltaReadings(said, seq)) check(parts)
  return found
}

export interface Refused {
  readonly reason: string
  readonly call?: string
}
