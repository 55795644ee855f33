import type { Json, JsonObject, PatchOp } from '../json/json.ts'

/** One change of a run, as a person asks for it: the run then goes on from there in a session of its own. */
export type Change = ChangeOfMessage | ChangeOfState | ChangeOfTool | ChangeOfPrompt

/** Another text for the message that began the run. Nothing of the run is reused; earlier runs are its history. */
export interface ChangeOfMessage {
  readonly field: 'message'
  readonly run: string
  readonly text: string
}

/** Another state after the row with this seq. */
export interface ChangeOfState {
  readonly field: 'state'
  readonly run: string
  readonly seq: number
  readonly patch: readonly PatchOp[]
}

/** Another result of a tool. */
export interface ChangeOfTool {
  readonly field: 'tool'
  readonly run: string
  readonly call: string
  readonly result: JsonObject
}

/** Another request of one model call. A field that is absent stays as it was. */
export interface ChangeOfPrompt {
  readonly field: 'prompt'
  readonly run: string
  readonly call: string
  readonly system?: string
  readonly contents?: readonly Json[]
}

/** What a changed run reuses of the run that was changed, and what it carries out again. */
export interface ChangePlan {
  readonly agent: string
  readonly run: string
  /** The last row of the changed run that is reused; for a message, the last row before the run. */
  readonly seq: number
  readonly reused: CallCounts
  /** The calls that the changed run had made from there on. The new ones may be more or fewer. */
  readonly again: CallCounts
}
/** Why a change cannot be made, in a sentence. */
export interface ChangeRefusal {
  readonly refusal: string
}
export interface CallCounts {
  readonly modelCalls: number
  readonly toolCalls: number
}
