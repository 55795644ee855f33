import type { Draft, RawRecorded, Recorded } from '../event/run-event.ts'
import type { SessionFacts } from '../event/session-facts.ts'
import type { Frame } from '../frame/frame.ts'
import type { JsonObject } from '../json/json.ts'

/**
 * A wire language: it decodes and encodes, and only its folder knows the names that its wire uses. Any object of this
 * shape is a dialect; `registry.ts` lists those that Millrace ships. Decoders and encoders are total: they return for
 * every input and never throw (SPEC 3.1).
 */
export interface Dialect {
  readonly name: string
  decoder(options: DecoderOptions): Decoder
  encoder(options: EncoderOptions): Encoder
  /**
   * Whether a frame is one of this dialect, and most likely of no other. `value` is the frame's data, where that is a
   * JSON object: it is parsed once for all dialects.
   */
  recognises(frame: Frame, value: JsonObject | undefined): boolean
  /**
   * The data of the one frame that `encoder.push` prints for this row, made from its stored text. Only a dialect that
   * keeps no state between rows and does not look inside the event has it: a replay then parses nothing.
   */
  printRaw?(row: RawRecorded): string
  /**
   * Its encoder can begin where a run begins, with the facts of the session in place of the rows before. Absent: what
   * it prints depends on more than that, and it is fed every row from the first.
   */
  readonly fromFacts?: boolean
}

export interface DecoderOptions {
  /** The run that frames belong to until the wire names one itself. */
  readonly run: string
  /** The agent of that run, until the wire names one. */
  readonly agent?: string
  /**
   * The frames come from a file of events, which may hold many turns. In a dialect that does not mark the end of a run
   * (adk), the first event of another turn then ends it.
   */
  readonly turns?: boolean
  /** As in `EncoderOptions`. */
  readonly history?: number
  /**
   * The messages that the peer was sent, in a dialect whose peers repeat the whole conversation (AG-UI). The log has them,
   * so they are not recorded again when they come back unchanged.
   */
  readonly sent?: readonly SentMessage[]
}

/** A message that a peer was sent, as it was printed. */
export interface SentMessage {
  readonly id: string
  readonly role: string
}

export interface Decoder {
  push(frame: Frame): readonly Draft[]
  /**
   * The stream has ended. `cut` means that it broke off (a connection error, half a frame): a dialect in which the end
   * of the stream is the end of the run must not report success then.
   */
  end(how: 'closed' | 'cut'): readonly Draft[]
  /** The session id, once the wire has named one. */
  readonly session: string | undefined
}

export interface EncoderOptions {
  readonly session: string
  /**
   * Whether the start of a run repeats its input (AG-UI RUN_STARTED.input). Default true, so that a replay is complete;
   * false for the reply to the client that has just sent that input.
   */
  readonly echo?: boolean
  /** Which AG-UI the reader understands: 1.0, or 0.x. Default `1`. Other dialects have one form only. */
  readonly protocol?: AgUiProtocol
  /** How a reader of AG-UI 0.x gets questions: in the outcome of the run as well (the default), or only as an event. */
  readonly questions?: 'outcome' | 'custom'
  /** The first row that is pushed is the `run.started` after these facts. Only where the dialect has `fromFacts`. */
  readonly facts?: SessionFacts
  /**
   * How many characters of the conversation are held, in a dialect that may have to print or compare all of it (AG-UI).
   * Older messages are forgotten. Default: none is.
   */
  readonly history?: number
  /** What a Studio `chunk` is: the text of its message so far (the default), or only what the text grew by. */
  readonly chunks?: 'text' | 'delta'
  /** Whether Studio prints `end` where a run waits for a person. Default false: the stream goes on with the answer. */
  readonly endsAtQuestion?: boolean
}

export type AgUiProtocol = '1' | '0'

/**
 * Frames for each recorded event. What it prints for an event depends on nothing but the rows before it, so one
 * encoder's output can be shared by every reader, and a resumed encoder is warmed by pushing the earlier rows and
 * discarding the result (SPEC 2.5). Feed it every row of the session, from the first or from those after its `facts`.
 */
export interface Encoder {
  /** Frames without `id`; `withSeq` puts it on the last one. */
  push(recorded: Recorded): readonly Frame[]
  /**
   * What `push` prints for this row, from its stored text; undefined where it has to be parsed and pushed. An encoder
   * that can print some rows so has this method: a stream then parses only the others. Such a frame has one line of
   * data, as stored text is, and nothing else.
   */
  pushRaw?(row: RawRecorded): readonly Frame[] | undefined
  /**
   * For a reader that joins at the live end instead of replaying: frames that summarise everything pushed so far (for
   * AG-UI: RUN_STARTED, snapshots, and a START for each open message). Empty when the dialect has no such frames.
   */
  prelude(): readonly Frame[]
}

/** The SSE `id` is the seq (or a cursor that holds it), on the last frame an event prints (SPEC 2.4). */
export function withSeq(frames: readonly Frame[], seq: number | string): readonly Frame[] {
  const last = frames.at(-1)
  if (last === undefined) return frames
  if (frames.length === 1) return [{ ...last, id: String(seq) }]
  return [...frames.slice(0, -1), { ...last, id: String(seq) }]
}
