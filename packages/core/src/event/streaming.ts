import type { AdkEvent } from './adk-event.ts'
import { partsOf, textOf } from './parts.ts'

// The one rule of streamed messages (SPEC 1.4). A message arrives as partials, each with a piece of its text, and then
// as an aggregate that holds the whole text again. Partials gather; the aggregate replaces what they gathered. A whole
// event without text (a function call, the end of a turn) is no aggregate: what was gathered stays, because the log
// has that text nowhere else. Views, encoders and retention ask these functions, so that they agree.

/** A piece of a message that is still streaming. `partial` alone decides, never a comparison of texts. */
export function isPartial(event: AdkEvent): boolean {
  return event.partial === true
}

/** Whether a whole event replaces the text that its partials gathered. */
export function isAggregate(event: AdkEvent): boolean {
  return !isPartial(event) && hasText(event)
}

/** Whether an event has text or thoughts. A plain loop, like the one below: views call these for every token. */
export function hasText(event: AdkEvent): boolean {
  for (const part of partsOf(event.content)) if (textOf(part) !== '') return true
  return false
}

/** The text of an event without its thoughts. */
export function spokenText(event: AdkEvent): string {
  let text = ''
  for (const part of partsOf(event.content)) if (part.thought !== true) text += textOf(part)
  return text
}
