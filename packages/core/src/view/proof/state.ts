import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { OpenText } from '../open-text.ts'
import type { ReasoningTrack } from './chain.ts'
import type { Proof } from './fact.ts'

export interface ProofState {
  /** One for every answer and every specialist's result, in the order in which they were complete. */
  readonly proofs: Sequence<Proof>
  /** Where a proof stands in `proofs`, by its id. */
  readonly index: Dictionary<number>
  /** What is still under way, by run. */
  readonly runs: Dictionary<RunProof>
}

export interface RunProof {
  readonly lanes: Dictionary<ReasoningTrack>
  /** Texts whose aggregate has not come yet, by message. */
  readonly open: Dictionary<OpenText>
  /** Which lane made a call, by call id. */
  readonly calls: Dictionary<string>
  /** Nodes that answer a function call: what they say goes to the caller. */
  readonly answering: Dictionary<true>
  /** Ids of the proofs that a message gave. */
  readonly messages: Dictionary<Dictionary<true>>
}
export const newProofTrack: RunProof = {
  lanes: Dictionary.empty,
  open: Dictionary.empty,
  calls: Dictionary.empty,
  answering: Dictionary.empty,
  messages: Dictionary.empty,
}

export const emptyProof: ProofState = { proofs: Sequence.empty, index: Dictionary.empty, runs: Dictionary.empty }
