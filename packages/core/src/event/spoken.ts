import type { AdkEvent } from './adk-event.ts'
import { partsOf, textOf } from './parts.ts'

/** What an event says aloud: its text without the thoughts. A plain loop, because views ask this for every delta. */
export function spokenText(event: AdkEvent): string {
  let text = ''
  for (const part of partsOf(event.content)) if (part.thought !== true) text += textOf(part)
  return text
}
