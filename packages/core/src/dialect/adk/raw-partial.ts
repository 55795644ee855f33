import type { PartialForm } from '../../event/run-event.ts'

// The text of a partial, made from the stored text of its row. Most rows of a log are partials, and to parse and print
// each one again is most of the work of a stream. Text that is not exactly as expected is left to the encoder, which
// parses it: stored text comes from JSON.stringify, so a quote inside a string is escaped, and keys are found by search.

const head = '{"kind":"agent","event":{'
const seam = '},"message":"'
/** What may follow the event: the message and the node, and nothing that could hold a field of an event. */
const rest = /^,"message":"(?:[^"\\]|\\.)*"(?:,"node":"(?:[^"\\]|\\.)*")?\}$/
const time = '"timestamp":'
/** Fields that the encoder keeps note of, or prints in another way. */
const noted = ['"error', '"invocationId":""'] as const
const calls = '"longRunningToolIds":['

/** Prints partials that know what they share with the others of their message: that is looked at once. */
export class FormedPrinter {
  #form: PartialForm | undefined
  /** The text before the time as it is printed; undefined where the form is not as expected. */
  #start: string | undefined
  /** The last time, and how it is printed. */
  #time = ''
  #seconds = ''

  /** The event as it is printed; undefined where the row has to be parsed. */
  print(form: PartialForm, own: string): string | undefined {
    if (form !== this.#form) {
      this.#form = form
      this.#start = startOf(form)
    }
    if (this.#start === undefined) return undefined
    const comma = own.indexOf(',')
    const text = own.slice(0, comma)
    if (text !== this.#time) {
      const milliseconds = Number(text)
      if (!(milliseconds > 0)) return undefined
      this.#time = text
      this.#seconds = secondsOf(milliseconds)
    }
    return `${this.#start}${this.#seconds}${own.slice(comma)}}`
  }
}

function startOf({ head: start, tail }: PartialForm): string | undefined {
  const isExpected =
    start.startsWith(head) &&
    start.indexOf(time) === start.length - time.length &&
    rest.test(tail.slice(1)) &&
    !noted.some((field) => start.includes(field))
  return isExpected ? `{${start.slice(head.length)}` : undefined
}

/** The event of a partial as it is printed, from the text of its row; undefined where the row has to be parsed. */
export function printRawPartial(body: string): string | undefined {
  const end = body.lastIndexOf(seam)
  if (end === -1 || !body.startsWith(head) || !rest.test(body.slice(end + 1))) return undefined
  const at = body.indexOf(time)
  // A second one means a field of that name deeper inside.
  if (at === -1 || body.indexOf(time, at + 1) !== -1) return undefined
  for (const field of noted) if (body.includes(field)) return undefined
  const ids = body.indexOf(calls)
  if (ids !== -1 && body[ids + calls.length] !== ']') return undefined
  const from = at + time.length
  const comma = body.indexOf(',', from)
  const to = comma === -1 || comma > end ? end : comma
  const milliseconds = Number(body.slice(from, to))
  // Zero means that the row's own time is printed.
  if (!(milliseconds > 0)) return undefined
  return `{${body.slice(head.length, from)}${secondsOf(milliseconds)}${body.slice(to, end + 1)}`
}

const secondsOf = (milliseconds: number): string => String(Math.round(milliseconds * 1e3) / 1e6)
