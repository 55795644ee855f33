import type { NodeId } from '../../event/run-event.ts'

/**
 * Where a value came from, so that a person can check it. `stated`: a structured field said so; `parsed`: read out of
 * text, and then `start`/`end` are the place in that text.
 */
export interface Where {
  readonly origin: 'stated' | 'parsed'
  readonly seq: number
  /** The message whose text it is. */
  readonly message?: string
  /** Which part of the event's content. Absent when the text was put together from deltas that no aggregate followed. */
  readonly part?: number
  /** The function call whose response it is. */
  readonly call?: string
  /** The field inside the response, output or state: `result`, `burn_report.proof_layer`. */
  readonly path?: string
  readonly start?: number
  readonly end?: number
}

export interface Confidence {
  /** 0 to 1. Absent when only a level was written. */
  readonly value?: number
  /** The word next to it: `High`. */
  readonly level?: string
  /** It was called the overall one. */
  readonly overall?: true
  /** Its section: `Fire Severity`. */
  readonly section?: string
  /** What it is about, where a line has several: `95% for timber`. */
  readonly of?: string
  /** The remark behind it: `Direct CFR citations`. */
  readonly note?: string
  readonly from: Where
}

/** A source named in text. */
export interface Source {
  readonly text: string
  /** What the list says of it: `Imagery date: 2022-09-15`. */
  readonly detail?: string
  readonly uri?: string
  readonly from: Where
}

/** A rule that an answer is based on: `36 CFR 220.6(e)(13)`. */
export interface Basis {
  readonly text: string
  readonly from: Where
}

/** A structured citation: of a `proof_layer`, or of the model's own grounding. */
export interface Citation {
  readonly source: string
  readonly reference?: string
  readonly uri?: string
  readonly excerpt?: string
  readonly from: Where
}

export interface ReasoningStep {
  /** The sentence as stated, or the name of what was called. */
  readonly text: string
  readonly call?: string
  /** The seq of the call, and of its response. */
  readonly asked?: number
  readonly answered?: number
  readonly failed?: true
}

/** How an answer was reached: as its author states it, or else the calls and responses that led to it. */
export interface Reasoning {
  readonly origin: 'stated' | 'sequence'
  readonly steps: readonly ReasoningStep[]
  /** How many steps before these are not listed, to keep a view bounded. */
  readonly omitted: number
}

/** The evidence behind one answer or one specialist's result. A value that was not stated is absent, never a default. */
export interface Proof {
  readonly id: string
  /** `answer`: the text of an agent for the user; `specialist`: the result of another agent; `tool`: that of a function. */
  readonly kind: 'answer' | 'specialist' | 'tool'
  /** The agent that wrote the text, or the name of the function that answered. */
  readonly author: string
  readonly run: string
  /** The event that completed it. */
  readonly seq: number
  readonly message?: string
  readonly call?: string
  readonly node?: NodeId
  /** Overall confidence. */
  readonly confidence?: Confidence
  /** Every confidence found, in order, the overall one included. */
  readonly confidences: readonly Confidence[]
  readonly sources: readonly Source[]
  readonly citations: readonly Citation[]
  readonly regulatoryBasis: readonly Basis[]
  readonly reasoning?: Reasoning
  /** Why a `proof_layer` could not be used. The values above were then read from text. */
  readonly refused?: { readonly path: string; readonly reason: string }
  /** A crash interrupted the step, which ran again: this proof no longer counts. */
  readonly superseded?: true
}
