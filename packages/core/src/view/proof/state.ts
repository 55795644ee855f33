import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { OpenText } from '../open-text.ts'
import type { ReasoningTrack } from './chain.ts'
import type { Proof } from './fact.ts'

export interface ProofState {
  /** One for every answer and every specialist's result, in the order in which they were complete. */
  readonly proofs: Sequence<Proof>
  /** The position of a proof in `proofs`, by its id. */
  readonly index: Dictionary<number>
  /** The runs that have not ended. */
  readonly runs: Dictionary<RunProof>
}

export interface RunProof {
  /** The calls of each speaker: see `speakerKey`. */
  readonly chains: Dictionary<ReasoningTrack>
  /** Texts whose aggregate has not come yet, by message. */
  readonly open: Dictionary<OpenText>
  /** The key of the speaker that made a call, by call id. */
  readonly calls: Dictionary<string>
  /** The calls that nodes answer, by node: the text of such a node goes to the caller. */
  readonly answering: Dictionary<string>
  /** What is known to be an agent: see `agentByCall` and `agentByName`. */
  readonly agents: Dictionary<true>
  /** The proof of a specialist's last message, until the response to its caller comes: by call and by name. */
  readonly results: Dictionary<string>
  /** Ids of the proofs that a message gave. */
  readonly messages: Dictionary<Dictionary<true>>
}

export const newProofTrack: RunProof = {
  chains: Dictionary.empty,
  open: Dictionary.empty,
  calls: Dictionary.empty,
  answering: Dictionary.empty,
  agents: Dictionary.empty,
  results: Dictionary.empty,
  messages: Dictionary.empty,
}

export const emptyProof: ProofState = { proofs: Sequence.empty, index: Dictionary.empty, runs: Dictionary.empty }

export const agentByCall = (call: string): string => `call ${call}`
export const agentByName = (name: string): string => `name ${name}`
