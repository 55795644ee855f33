import type { AdkFunctionResponse } from '../../event/adk-event.ts'
import { asksAgent } from '../../event/adk-rules.ts'
import { callOf, isToolError, partsOf, responseOf } from '../../event/parts.ts'
import { replacedRows } from '../../event/replaced-runs.ts'
import type { AgentSaid, Recorded, RunStarted, Superseded } from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'
import { isObject } from '../../json/json.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { openTexts, withPartial } from '../open-text.ts'
import type { View } from '../view.ts'
import { type Assembled, hasEvidence, oneResult } from './assemble.ts'
import { newReasoningTrack, reasoningOf, speakerKey, withCall, withoutMessages, withResponse } from './chain.ts'
import type { Proof } from './fact.ts'
import {
  messageProof,
  type ProofSpeaker,
  patchProofs,
  proofId,
  responseProofs,
  type SaidEvent,
  stateProofs,
  textsOf,
} from './read.ts'
import { agentByCall, agentByName, emptyProof, newProofTrack, type ProofState, type RunProof } from './state.ts'

/**
 * The evidence behind every answer: confidence, sources, citations, regulatory basis and reasoning chain, each with its
 * place in the log. Read from a structured `proof_layer` first, else parsed from text; a value that was not stated is
 * absent, never a default.
 */
export const proofView: View<ProofState> = {
  name: 'proof',
  initial: emptyProof,
  apply(state, row: Recorded) {
    const { run, seq, event } = row
    const track = state.runs.get(run) ?? newProofTrack
    switch (event.kind) {
      case 'agent':
        if (isPartial(event.event)) return tracked(state, run, streamed(track, event, seq), track)
        return complete(state, { said: event, run, seq }, track)
      case 'node.started':
        if (event.call === undefined) return state
        return tracked(state, run, {
          ...track,
          answering: track.answering.set(event.node, event.call),
          agents: track.agents.set(agentByCall(event.call), true),
        })
      case 'state':
        return added(state, run, track, patchProofs({ run, seq }, event.patch))
      case 'superseded':
        return withdrawn(state, run, track, event)
      case 'run.started':
        return withoutReplaced(state, row, event)
      case 'run.finished':
        return finished(state, run)
      default:
        return state
    }
  },
}

/** The evidence behind a message of the transcript. */
export function proofOfMessage(state: ProofState, run: string, message: string): Proof | undefined {
  return proofAt(state, proofId(run, 'message', message))
}

/** The evidence behind the response to a call. */
export function proofOfCall(state: ProofState, run: string, call: string): Proof | undefined {
  return proofAt(state, proofId(run, 'call', call))
}

function proofAt(state: ProofState, id: string): Proof | undefined {
  const at = state.index.get(id)
  return at === undefined ? undefined : state.proofs.at(at)
}

/** Partials only gather; the text is read once, from the aggregate. So pruned partials change nothing. */
function streamed(track: RunProof, said: AgentSaid, seq: number): RunProof {
  const open = said.event.author === 'user' ? track.open : withPartial(track.open, said, seq)
  if (open === track.open) return track
  const { chains, calls, answering, agents, results, messages } = track // no spread: every token comes here
  return { chains, open, calls, answering, agents, results, messages }
}

/** One whole ADK event: first its text, then its responses, then its calls. */
function complete(state: ProofState, event: SaidEvent, known: RunProof): ProofState {
  const { said, run, seq } = event
  const { author, branch, content } = said.event
  const parts = partsOf(content)
  const made: Assembled[] = []
  let track = known.open.get(said.message) === undefined ? known : { ...known, open: known.open.delete(said.message) }
  if (author !== 'user') {
    const spoken = messageProof(event, textsOf(said), speaker(said, track))
    const asks = parts.some((part) => callOf(part) !== undefined)
    // A text beside calls ("Let me ask the specialists") is not an answer, unless it has evidence.
    if (spoken !== undefined && (!asks || hasEvidence(spoken.proof))) {
      made.push(spoken)
      if (spoken.proof.kind === 'specialist') track = withResult(track, said, spoken.proof.id)
    }
  }
  const key = speakerKey(author, branch)
  for (const [index, part] of parts.entries()) {
    const response = responseOf(part)
    if (response !== undefined) {
      made.push(...responseProofs(event, index, response, isAgent(track, key, response)))
      track = responded(track, key, seq, response)
    }
    const call = callOf(part)
    if (call !== undefined) {
      const { id, name } = call
      const chain = withCall(track.chains.get(key) ?? newReasoningTrack, said.message, id, name, seq)
      const calls = id === undefined ? track.calls : track.calls.set(id, key)
      const asked = id === undefined ? agentByName(name) : agentByCall(id)
      const agents = asksAgent(call) ? track.agents.set(asked, true) : track.agents
      track = { ...track, chains: track.chains.set(key, chain), calls, agents }
    }
  }
  return added(state, run, track, [...made, ...stateProofs(event, made)])
}

/** Where the call is not in the log, as in a recording without its beginning, the response counts as an agent's. */
function isAgent({ agents, calls, chains }: RunProof, key: string, { id, name }: AdkFunctionResponse): boolean {
  if (agents.get(agentByName(name)) === true) return true
  if (id !== undefined) return agents.get(agentByCall(id)) === true || calls.get(id) === undefined
  return chains.get(key)?.steps.some(({ text }) => text === name) !== true
}

/** The response to the caller, when it comes, is the same result. */
function withResult(track: RunProof, { event, node }: AgentSaid, proof: string): RunProof {
  const call = node === undefined ? undefined : track.answering.get(node)
  const name = agentByName(event.author)
  const key = call === undefined ? name : agentByCall(call)
  return { ...track, agents: track.agents.set(name, true), results: track.results.set(key, proof) }
}

/** A graph's step has itself as its branch: nobody called it, so what it says is for the user. */
function speaker({ event, node }: AgentSaid, track: RunProof): ProofSpeaker {
  const { branch = '' } = event
  return {
    toCaller: (branch !== '' && branch !== node) || (node !== undefined && track.answering.get(node) !== undefined),
    reasoning: reasoningOf(track.chains.get(speakerKey(event.author, event.branch))),
  }
}

function responded(track: RunProof, key: string, seq: number, { id, name, response }: AdkFunctionResponse): RunProof {
  const at = (id === undefined ? undefined : track.calls.get(id)) ?? key
  const chain = track.chains.get(at)
  if (chain === undefined) return track
  const failed = isObject(response) && isToolError(response.error)
  return { ...track, chains: track.chains.set(at, withResponse(chain, id, name, seq, failed)) }
}

function added(state: ProofState, run: string, track: RunProof, made: readonly Assembled[]): ProofState {
  if (made.length === 0) return tracked(state, run, track)
  let { proofs, index } = state
  const message = made[0]?.proof.message
  let ids = (message === undefined ? undefined : track.messages.get(message)) ?? Dictionary.empty
  let { results } = track
  for (const { proof } of made) {
    const key = resultKey(results, proof)
    const own = key === undefined ? undefined : index.get(results.get(key) ?? '')
    const spoken = own === undefined ? undefined : proofs.at(own)
    if (key !== undefined) results = results.delete(key)
    const at = spoken === undefined || spoken.superseded ? index.get(proof.id) : own
    const kept = at === own && spoken !== undefined ? oneResult(spoken, proof) : proof
    proofs = at === undefined ? proofs.append(kept) : proofs.with(at, kept)
    if (index.get(proof.id) === undefined) index = index.set(proof.id, at ?? proofs.length - 1)
    ids = ids.set(proof.id, true)
  }
  const next = { ...state, proofs, index }
  const then = results === track.results ? track : { ...track, results }
  if (message === undefined) return tracked(next, run, then)
  return tracked(next, run, { ...then, messages: then.messages.set(message, ids) })
}

/** Under which key the specialist's own message of this response waits. */
function resultKey(results: Dictionary<string>, { call, author, kind, id }: Proof): string | undefined {
  if (kind !== 'specialist' || (call === undefined && !id.includes('/response/'))) return undefined
  const keys = [...(call === undefined ? [] : [agentByCall(call)]), agentByName(author)]
  return keys.find((key) => results.get(key) !== undefined)
}

function tracked(state: ProofState, run: string, track: RunProof, before?: RunProof): ProofState {
  const { proofs, index, runs } = state
  return track === (before ?? runs.get(run) ?? newProofTrack) ? state : { proofs, index, runs: runs.set(run, track) }
}

/** A step that a crash interrupted runs again: the proofs of the first attempt stay, marked (SPEC 4.6). */
function withdrawn(state: ProofState, run: string, known: RunProof, { messages }: Superseded): ProofState {
  let { proofs } = state
  let { open, chains } = known
  for (const message of messages) {
    open = open.delete(message)
    for (const [id] of known.messages.get(message) ?? []) {
      const at = state.index.get(id)
      const proof = at === undefined ? undefined : proofs.at(at)
      if (at !== undefined && proof !== undefined) proofs = proofs.with(at, { ...proof, superseded: true })
    }
  }
  const gone = new Set(messages)
  for (const [key, chain] of known.chains) chains = chains.set(key, withoutMessages(chain, gone))
  const same = open === known.open && chains === known.chains
  return tracked(proofs === state.proofs ? state : { ...state, proofs }, run, same ? known : { ...known, open, chains })
}

function withoutReplaced(state: ProofState, row: Recorded, event: RunStarted): ProofState {
  let next = state
  for (const lost of replacedRows(row, event)) {
    const known = next.runs.get(lost.run)
    if (known !== undefined) next = withdrawn(next, lost.run, known, lost.event)
  }
  return next
}

/** The run is over: a text that is still open gets no aggregate any more, so it is read now. */
function finished(state: ProofState, run: string): ProofState {
  const track = state.runs.get(run)
  if (track === undefined) return state
  const made = openTexts(track.open).flatMap(({ text, said, seq }) => {
    const spoken = messageProof({ said, run, seq }, [{ text }], speaker(said, track))
    return spoken === undefined ? [] : [spoken]
  })
  const next = added(state, run, track, made)
  return { ...next, runs: next.runs.delete(run) }
}
