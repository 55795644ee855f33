import { type AgentSaid, isPartial, isRunEvent, type RunEvent } from '@millrace/core'
import { PrintedPartial } from '../printed-partial.ts'
import { isTextPartial } from './text-partial.ts'

// Events on their way from the process of an agent to the server: a line of JSON for each. A partial is checked here and
// its line is the text that the log stores, so the server neither parses nor prints it. A line before it names the
// message and the node, where they differ from those of the partial before.

const partialMark = 'p'
const speakerMark = 's'

/** Throws when an event is not JSON. */
export function printEvents(events: readonly RunEvent[]): string {
  let lines = ''
  let message: string | undefined
  let node: string | undefined
  for (const event of events) {
    // `undefined` has no text; as null it is refused by the server, which names it in the log.
    const isPrinted = event instanceof PrintedPartial
    const text = isPrinted ? event.text : (JSON.stringify(event) ?? 'null')
    if (isPrinted || isPlainPartial(event)) {
      if (event.message !== message || event.node !== node) {
        ;({ message, node } = event)
        lines += `${speakerMark}${JSON.stringify([message, node])}\n`
      }
      lines += `${partialMark}${text}\n`
    } else lines += `${text}\n`
  }
  return lines
}

/** Reads the lines that begin at `start`. Throws when they are not what `printEvents` made. */
export function readEvents(text: string, start: number): readonly RunEvent[] {
  const events: RunEvent[] = []
  let message = ''
  let node: string | undefined
  for (let from = start; from < text.length; ) {
    const end = text.indexOf('\n', from)
    if (end === -1) throw new SyntaxError('the last line has no end')
    const mark = text[from]
    if (mark === partialMark) events.push(new PrintedPartial(text.slice(from + 1, end), message, node))
    else if (mark === speakerMark) {
      const speaker: [string, string | null] = JSON.parse(text.slice(from + 1, end))
      message = speaker[0]
      node = speaker[1] ?? undefined
    } else events.push(JSON.parse(text.slice(from, end)))
    from = end + 1
  }
  return events
}

/** What an agent yields may be anything; a partial that is no event is left to the server, which refuses it. */
function isPlainPartial(event: RunEvent): event is AgentSaid {
  return isTextPartial(event) || (isRunEvent(event) && event.kind === 'agent' && isPartial(event.event))
}
