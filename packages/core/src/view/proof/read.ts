import type { AdkFunctionResponse } from '../../event/adk-event.ts'
import { partsOf, responseOf, textOf } from '../../event/parts.ts'
import type { AgentSaid } from '../../event/run-event.ts'
import { isObject, type PatchOp } from '../../json/json.ts'
import { type Assembled, assemble, type ProofReading, sameLayer, saysSomething } from './assemble.ts'
import type { Reasoning } from './fact.ts'
import { groundingCitations, readProofLayer } from './layer.ts'
import { type ResultParts, resultParts } from './result.ts'

/** The event that is read, and where in the log it stands. */
export interface SaidEvent {
  readonly said: AgentSaid
  readonly run: string
  readonly seq: number
}

/** ADK's own plumbing: nobody vouches for anything with these. */
const plumbing = /^(?:transfer_to_agent|exit_loop|adk_request_\w{1,60})$/

/** Message and call ids are unique in their run only: wires without ids count them from one. */
export function proofId(run: string, what: 'message' | 'call' | 'response' | 'state', id: string): string {
  return `${run}/${what}/${id}`
}

/** What an agent says to the user or its caller; thoughts are not part of it. */
export function textsOf({ event }: AgentSaid): readonly { readonly text: string; readonly part: number }[] {
  return partsOf(event.content).flatMap((each, part) =>
    textOf(each) !== '' && each.thought !== true ? [{ text: textOf(each), part }] : [],
  )
}

export interface ProofSpeaker {
  /** What it says goes to the agent that called it, not to the user. */
  readonly toCaller: boolean
  readonly reasoning: Reasoning | undefined
}

/** An agent's own words: its text, its output, or what its output key wrote into the state with them. */
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

/** What a function handed back: its own result, and the results of others that it brought along by name. */
export function responseProofs(
  { said: { message, node }, run, seq }: SaidEvent,
  part: number,
  { id: given, name, response }: AdkFunctionResponse,
): readonly Assembled[] {
  const call = given === '' ? undefined : given
  if (plumbing.test(name)) return []
  const id = call === undefined ? proofId(run, 'response', `${seq}.${part}`) : proofId(run, 'call', call)
  const which = call === undefined ? {} : { call }
  const where = { seq, message, part, ...which }
  const head = { kind: 'specialist' as const, run, seq, message, ...which, ...(node === undefined ? {} : { node }) }
  const parts = resultParts(response)
  const inner = parts.inner.map((result) =>
    assemble({ ...head, id: `${id}/${result.name}`, author: result.name }, [{ parts: result.parts, where }], {}),
  )
  const own = assemble({ ...head, id, author: name }, [{ parts, where }], {})
  return inner.length > 0 && !saysSomething(own.proof) ? inner : [own, ...inner]
}

/** Layers written into the state that no part of the same event has brought already. */
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

/** Layers in a patch: at `/burn_report`, at `/burn_report/proof_layer`, or inside a state replaced as a whole. */
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

/** State holds anything: only a value that brings a layer is read. */
function layerParts(value: unknown, path: string): ResultParts | undefined {
  const holds = isObject(value)
    ? Object.hasOwn(value, 'proof_layer')
    : typeof value === 'string' && value.includes('"proof_layer"')
  const parts = holds ? resultParts(value, path) : undefined
  return parts?.layer === undefined ? undefined : parts
}

/** The layers of an event that break their contract, for the linter: found as above, without reading any text. */
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
