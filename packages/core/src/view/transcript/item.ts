import type { AdkPart } from '../../event/adk-event.ts'
import type { Problem } from '../../event/problem.ts'
import type { Changed, InputMessage, Level, NodeId, Outcome } from '../../event/run-event.ts'
import type { Json, JsonObject } from '../../json/json.ts'

/** One row of a conversation. `key` is unique in the session and stays the same from the first token on. */
export type Item = Message | Transfer | Asked | Noted | Unread | Saved | ChangedStep | RunStart | RunEnd

// Optional fields may hold undefined: a message then has one shape from its first token to its last, and can be made
// field by field. On Node 20 a spread of its fields takes 430 ns, the same literal field by field 11 ns.

interface Row {
  readonly key: string
  readonly run: string
  /** The seq of its first event. For a message this is its first partial, so it changes when partials are pruned. */
  readonly seq: number
  readonly at: number
  /** Its node execution, which has its own lane while others run at the same time (see `blocks`). */
  readonly node?: NodeId | undefined
  /** ADK's branch, where there is no node. */
  readonly branch?: string | undefined
}

export interface Message extends Row {
  readonly kind: 'message'
  /** The stable message id (SPEC 1.4). Unique in its run. */
  readonly id: string
  readonly author: string
  readonly role: InputMessage['role']
  /** The text without thoughts. */
  readonly text: string
  readonly thoughts: string
  /** All parts in order: text, thoughts, tool cards, files, code. */
  readonly parts: readonly Part[]
  /** `cut`: the run ended before the message did. */
  readonly status: 'streaming' | 'done' | 'cut'
  /** How many of `parts` are whole; those after them are still streaming and the aggregate replaces them. */
  readonly whole: number
  readonly endSeq?: number | undefined
  readonly endedAt?: number | undefined
  /** The id of the last whole ADK event it came from. */
  readonly eventId?: string | undefined
  readonly task?: string | undefined
  /** Why the model stopped, unless it was done (MAX_TOKENS, SAFETY, …). */
  readonly finishReason?: string | undefined
  readonly error?: { readonly message: string; readonly code?: string } | undefined
  /** A crash interrupted the step, which ran again: this message no longer counts (SPEC 4.6). */
  readonly superseded?: true | undefined
}

export type Part = TextPart | ToolCard | FilePart | CodePart | CodeResultPart | OtherPart
export interface TextPart {
  readonly kind: 'text' | 'thought'
  readonly text: string
}
/** An image, sound or document: inline (base64 `data`) or by `uri`. */
export interface FilePart {
  readonly kind: 'file'
  readonly mimeType?: string
  readonly data?: string
  readonly uri?: string
  readonly name?: string
}
export interface CodePart {
  readonly kind: 'code'
  readonly code: string
  readonly language?: string
}
export interface CodeResultPart {
  readonly kind: 'code-result'
  readonly outcome?: string
  readonly output?: string
}
/** A kind of part that this version does not know. */
export interface OtherPart {
  readonly kind: 'other'
  readonly part: AdkPart
}

/** One tool call and, once it has come, its result. */
export interface ToolCard {
  readonly kind: 'tool'
  readonly key: string
  /** The function call's id; '' where the source gave none. */
  readonly call: string
  readonly name: string
  readonly args?: JsonObject
  /** `cut`: the run failed or was cancelled before the answer came. */
  readonly status: 'pending' | 'ok' | 'error' | 'cut'
  readonly result?: JsonObject
  readonly error?: string
  readonly seq: number
  readonly at: number
  readonly endSeq?: number
  readonly endedAt?: number
  /** Milliseconds that the tool ran, where its engine measured it; else those between call and answer, by the log's clock. */
  readonly duration?: number
  readonly longRunning?: true
  /** A response to a call that the log does not have. */
  readonly orphan?: true
}

export interface Transfer extends Row {
  readonly kind: 'transfer'
  readonly from: string
  readonly to: string
}

/** A question to a person, and the answer. */
export interface Asked extends Row {
  readonly kind: 'interrupt'
  readonly id: string
  readonly reason: string
  readonly message?: string
  readonly call?: string
  readonly schema?: JsonObject
  readonly payload?: Json
  readonly expiresAt?: string
  readonly status: 'open' | 'resolved' | 'cancelled'
  readonly answer?: Json
  readonly answeredAt?: number
}

export interface Noted extends Row {
  readonly kind: 'log'
  readonly level: Level
  readonly message: string
  readonly data?: Json
}

export interface Unread extends Row {
  readonly kind: 'foreign'
  readonly dialect: string
  readonly raw: string
  readonly reason: string
}

export interface Saved extends Row {
  readonly kind: 'artifact'
  readonly id: string
  readonly name: string
  readonly type: string
  readonly version: number
  readonly task?: string
  readonly deleted?: boolean
  /** A crash interrupted the step that saved it, and the step ran again (SPEC 4.6). */
  readonly superseded?: true
}

/** A person changed a step, and the run goes on from here. */
export interface ChangedStep extends Row, Omit<Changed, 'kind' | 'node'> {
  readonly kind: 'changed'
}

export interface RunStart extends Row {
  readonly kind: 'start'
  readonly agent: string
  readonly parent?: string
  readonly forkOf?: { readonly session: string; readonly seq: number }
}

export interface RunEnd extends Row {
  readonly kind: 'end'
  readonly outcome: Outcome
  readonly error?: Problem
  /** Milliseconds since the run's start, when the log has it. */
  readonly duration?: number
}
