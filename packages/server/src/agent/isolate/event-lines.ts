import { type AgentSaid, isPartial, isRunEvent, type PartialForm, type RunEvent } from '@millrace/core'
import { PrintedPartial } from '../printed-partial.ts'
import { isTextPartial } from './text-partial.ts'

// Events on their way from the process of an agent to the server: a line of JSON for each. The line of a partial is the
// text that the log stores, so the server looks whether it is one, and does not print it. A line before it names the
// message and the node, where they differ from those of the partial before. The text that partials share, their form, has
// a line before the first of them, too, and their own lines have only what is their own. A form holds until the next line
// of either kind.

const partialMark = 'p'
const speakerMark = 's'
const formMark = 'f'
const ownMark = 'o'

/** Throws when an event is not JSON. */
export function printEvents(events: readonly RunEvent[]): string {
  let lines = ''
  let message: string | undefined
  let node: string | undefined
  let form: PartialForm | undefined
  for (const event of events) {
    // `undefined` has no text; as null it is refused by the server, which names it in the log.
    const isPrinted = event instanceof PrintedPartial
    const text = isPrinted ? '' : (JSON.stringify(event) ?? 'null')
    if (isPrinted || isPlainPartial(event)) {
      if (event.message !== message || event.node !== node) {
        ;({ message, node } = event)
        form = undefined
        lines += `${speakerMark}${JSON.stringify([message, node])}\n`
      }
      if (isPrinted && event.form !== undefined) {
        if (event.form !== form) {
          form = event.form
          lines += `${formMark}${JSON.stringify([form.head, form.tail])}\n`
        }
        lines += `${ownMark}${event.own}\n`
      } else lines += `${partialMark}${isPrinted ? event.text : text}\n`
    } else lines += `${text}\n`
  }
  return lines
}

/** Reads the lines that begin at `start`. Throws when they are not what `printEvents` made. */
export function readEvents(text: string, start: number): readonly RunEvent[] {
  if (!isPrintedText(text)) throw new SyntaxError('the lines hold characters that JSON escapes')
  const events: RunEvent[] = []
  let message = ''
  let node: string | undefined
  let form: PartialForm | undefined
  for (let from = start; from < text.length; ) {
    const end = text.indexOf('\n', from)
    if (end === -1) throw new SyntaxError('the last line has no end')
    const mark = text[from]
    if (mark === ownMark) {
      if (form === undefined) throw new SyntaxError('a partial has no form')
      const own = text.slice(from + 1, end)
      const partial = PrintedPartial.formed(form, own, message, node)
      events.push(isUsual(own) ? partial : checked(partial))
    } else if (mark === formMark) form = formIn(JSON.parse(text.slice(from + 1, end)), message, node)
    else if (mark === partialMark) events.push(checked(new PrintedPartial(text.slice(from + 1, end), message, node)))
    else if (mark === speakerMark) {
      const speaker: [string, string | null] = JSON.parse(text.slice(from + 1, end))
      message = speaker[0]
      node = speaker[1] ?? undefined
      form = undefined
    } else events.push(JSON.parse(text.slice(from, end)))
    from = end + 1
  }
  return events
}

/**
 * The lines of partials are stored as they are. With a raw control character or half of a surrogate pair, which
 * `JSON.stringify` never leaves in a text, the log could not be read again as it was sent.
 */
function isPrintedText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
  return !/[\0-\t\v-\x1f\p{Surrogate}]/u.test(text)
}

/**
 * The partial, if its text is one of its message and node. Any other event is given back as what it is, and is checked as
 * those are that do not come as a text. Text that is not JSON throws: the log could not be read again.
 */
function checked(partial: PrintedPartial): RunEvent {
  const event: RunEvent = JSON.parse(partial.text)
  return isPlainPartial(event) && event.message === partial.message && event.node === partial.node ? partial : event
}

const string = String.raw`"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"`
const part = String.raw`\{(?:"thought":(?:true|false),)?"text":${string}(?:,"thought":(?:true|false))?\}`
const role = '"role":"[a-z]+"'
const usual = new RegExp(
  String.raw`^[1-9]\d{0,15}(?:\.\d{1,9})?,"id":"\w*","content":\{(?:${role},)?"parts":\[(?:${part}(?:,${part})*)?\](?:,${role})?\},"partial":true$`,
)

/** Whether a partial's own text is that of nearly every token. To look takes a twentieth of the time to parse it. */
function isUsual(own: string): boolean {
  return own.length < 4096 && usual.test(own)
}

/**
 * Unlike a line, a form can hold a newline, which would break the lines of the log's file, half of a surrogate pair, and
 * text of another message. It is checked once for all partials that share it, with the shortest text in it.
 */
function formIn(form: unknown, message: string, node: string | undefined): PartialForm {
  const [head, tail]: readonly unknown[] = Array.isArray(form) ? form : []
  if (typeof head === 'string' && typeof tail === 'string') {
    const text = `${head}0,"id":"","partial":true${tail}`
    const event: RunEvent = JSON.parse(text)
    const isOf = isPlainPartial(event) && event.message === message && event.node === node
    if (isOf && event.event.timestamp === 0 && isPrintedText(text) && !text.includes('\n')) return { head, tail }
  }
  throw new SyntaxError('the form is not the text around a partial of its message')
}

/** What an agent yields may be anything; a partial that is no event is left to the server, which refuses it. */
function isPlainPartial(event: RunEvent): event is AgentSaid {
  return isTextPartial(event) || (isRunEvent(event) && event.kind === 'agent' && isPartial(event.event))
}
