import type { AgentSaid } from '../event/run-event.ts'
import { spokenText } from '../event/streaming.ts'
import type { Dictionary } from '../persistent/dictionary.ts'

/** The text of a message whose aggregate has not come yet. */
export interface OpenText {
  readonly text: string
  /** The latest partial, and its place in the log. */
  readonly said: AgentSaid
  readonly seq: number
}

/** Open texts by message, with the text of one more partial. The same reference when the partial has no text. */
export function withPartial(open: Dictionary<OpenText>, said: AgentSaid, seq: number): Dictionary<OpenText> {
  const delta = spokenText(said.event)
  if (delta === '') return open
  const before = open.get(said.message)?.text ?? ''
  return open.set(said.message, { text: before + delta, said, seq })
}

/** In the order of their latest partials: when a run is over, these texts get no aggregate and are all there is. */
export function openTexts(open: Dictionary<OpenText>): readonly OpenText[] {
  return [...open].map(([, text]) => text).sort((a, b) => a.seq - b.seq)
}
