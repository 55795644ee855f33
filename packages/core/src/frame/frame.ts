/** One SSE message as text. */
export interface Frame {
  /** The `event:` field; absent means the default, `message`. */
  readonly event?: string
  /** The `id:` field of this frame. Millrace writes the seq here, on the last frame an event prints (SPEC 2.4). */
  readonly id?: string
  readonly data: string
  /**
   * A comment line. A frame that has one and neither `event` nor `data` prints as the comment alone (and its `id`):
   * heartbeats, and the end of an `adk` stream, which must not look like an event to adk-web.
   */
  readonly comment?: string
  /** The frame was longer than the reader's bound: `data` is the beginning of its lines, the rest was skipped. */
  readonly truncated?: true
}
