import {
  type AgentSaid,
  functionCallsOf,
  functionResponsesOf,
  isToolError,
  type JsonObject,
  type Recorded,
  type RunEvent,
  type TaskEdit,
} from '@millrace/core'
import { type Colours, durationText, oneLine, visible } from '../terminal.ts'

interface PainterOptions {
  readonly write: (text: string) => void
  readonly colours: Colours
  readonly width: number | undefined
  readonly thoughts: boolean
}

/** Where a line belongs: its author, and how deep inside of other agents' calls. */
interface Place {
  readonly author: string
  readonly node: string
  readonly depth: number
}

/**
 * Writes a run for a person, by author. One message at a time streams; agents that speak meanwhile are written when
 * that message ends.
 */
export class RunPainter {
  readonly #options: PainterOptions
  /** The message that streams now, and what was written of it. */
  #streaming: { readonly message: string; text: string } | undefined
  /** What came so far of the messages that are not whole yet. */
  readonly #open = new Map<string, string>()
  #waiting: (() => void)[] = []
  /** The place of the last line. */
  #last: Place | undefined
  #isLineOpen = false
  /** Line ends and spaces that come before the next text. */
  #breaks = ''
  readonly #calls = new Map<string, number>()
  readonly #tasks = new Map<string, string>()

  constructor(options: PainterOptions) {
    this.#options = options
  }

  take({ event, at }: Recorded): void {
    if (event.kind === 'agent') this.#said(event, at)
    else this.#fact(event)
  }

  /** Writes what still waits, and ends the line. */
  end(): void {
    this.#streaming = undefined
    this.#flush()
    this.#closeLine()
  }

  #said(said: AgentSaid, at: number): void {
    const { event, message } = said
    if (event.author === 'user') return
    const place = placeOf(said)
    const text = textOf(event.content?.parts ?? [], this.#options.thoughts)
    if (event.partial === true) {
      const sofar = (this.#open.get(message) ?? '') + text
      this.#open.set(message, sofar)
      if (sofar.trim() === '') return
      this.#streaming ??= { message, text: '' }
      if (this.#streaming.message !== message) return
      this.#stream(place, sofar.slice(this.#streaming.text.length))
      this.#streaming.text = sofar
      return
    }
    this.#open.delete(message)
    const streamed = this.#streaming?.message === message ? this.#streaming.text : undefined
    if (streamed !== undefined) {
      if (text.startsWith(streamed) && text.length > streamed.length) this.#stream(place, text.slice(streamed.length))
      this.#streaming = undefined
      this.#closeLine()
    }
    this.#later(() => {
      if (streamed === undefined && text.trim() !== '') {
        this.#stream(place, text)
        this.#closeLine()
      }
      this.#tools(said, place, at)
    })
    if (streamed !== undefined) this.#flush()
  }

  #tools({ event }: AgentSaid, place: Place, at: number): void {
    const { colours } = this.#options
    for (const { id = '', name, args = {} } of functionCallsOf(event)) {
      this.#calls.set(id, at)
      if (name === 'transfer_to_agent' || name.startsWith('adk_request_')) continue
      this.#line(place, `${colours.accent('→')} ${name}  ${colours.faint(this.#short(args, place, name))}`)
    }
    for (const { id = '', name, response = {} } of functionResponsesOf(event)) {
      if (name === 'transfer_to_agent' || name.startsWith('adk_request_')) continue
      const begun = this.#calls.get(id)
      const took = begun === undefined ? '' : ` ${durationText(at - begun)}`
      const failed = isToolError(response.error)
      const mark = failed ? colours.bad('✗') : colours.good('←')
      const shown = this.#short(response, place, name + took)
      this.#line(place, `${mark} ${name}${colours.faint(took)}  ${failed ? colours.bad(shown) : colours.faint(shown)}`)
    }
    const to = event.actions?.transferToAgent
    if (to !== undefined) this.#line(place, colours.faint(`⇢ hands over to ${to}`))
    if (event.errorMessage !== undefined) this.#line(place, colours.bad(`✗ ${visible(event.errorMessage)}`))
  }

  #fact(event: Exclude<RunEvent, { kind: 'agent' }>): void {
    const { colours } = this.#options
    const place = { author: '', node: '', depth: 0 }
    const line = (text: string): void => this.#later(() => this.#line(place, text))
    if (event.kind === 'log' && (event.level === 'warn' || event.level === 'error'))
      line((event.level === 'warn' ? colours.warn : colours.bad)(`! ${visible(event.message)}`))
    else if (event.kind === 'artifact')
      line(`${colours.accent('▤')} ${event.name} ${colours.faint(`version ${event.version}`)}`)
    else if (event.kind === 'tasks') for (const { id, title } of event.tasks) this.#task(id, title, line)
    else if (event.kind === 'tasks.changed') for (const change of event.changes) this.#edit(change, line)
    else if (event.kind === 'task.started') line(`${colours.accent('▸')} ${this.#tasks.get(event.task) ?? event.task}`)
    else if (event.kind === 'task.finished') {
      const mark = event.status === 'done' ? colours.good('✓') : colours.bad('✗')
      line(`${mark} ${this.#tasks.get(event.task) ?? event.task}  ${colours.faint(oneLine(event.result))}`)
    }
  }

  #edit({ task, title, removed }: TaskEdit, line: (text: string) => void): void {
    if (removed === true) line(this.#options.colours.faint(`− ${this.#tasks.get(task) ?? task}`))
    else if (title !== undefined) this.#task(task, title, line)
  }

  #task(id: string, title: string, line: (text: string) => void): void {
    if (this.#tasks.get(id) === title) return
    this.#tasks.set(id, title)
    line(`${this.#options.colours.accent('+')} ${visible(title)}`)
  }

  /** Does it now, or when the message that streams has ended. */
  #later(work: () => void): void {
    if (this.#streaming === undefined) work()
    else this.#waiting.push(work)
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const work of waiting) work()
  }

  #stream(place: Place, text: string): void {
    if (!this.#isLineOpen) {
      this.#head(place)
      this.#isLineOpen = true
      this.#breaks = indent(place)
    }
    // Line ends wait for the text after them, so that no line is only spaces.
    const [, begin = '', middle = '', end = ''] = /^(\n*)([\s\S]*?)(\n*)$/.exec(visible(text)) ?? []
    if (begin !== '') this.#breaks = this.#breaks.replace(/ *$/, '') + begin + indent(place)
    if (middle === '') return
    this.#options.write(this.#breaks + middle.replace(/\n+(?=.)/g, (lines) => lines + indent(place)))
    this.#breaks = end === '' ? '' : end + indent(place)
  }

  #line(place: Place, text: string): void {
    this.#closeLine()
    this.#head(place)
    this.#options.write(`${indent(place)}${text.trimEnd()}\n`)
  }

  #head(place: Place): void {
    if (place.author === '' || (this.#last?.node === place.node && this.#last.author === place.author)) return
    const gap = this.#last === undefined || place.depth > this.#last.depth ? '' : '\n'
    this.#last = place
    this.#options.write(`${gap}${'  '.repeat(place.depth)}${this.#options.colours.strong(place.author)}\n`)
  }

  #closeLine(): void {
    if (this.#isLineOpen) this.#options.write('\n')
    this.#isLineOpen = false
  }

  #short(value: JsonObject, place: Place, before: string): string {
    const text = JSON.stringify(value)
    if (text === '{}') return ''
    const room = (this.#options.width ?? 110) - place.depth * 2 - before.length - 8
    return oneLine(text, Math.max(room, 24))
  }
}

const indent = ({ author, depth }: Place): string => '  '.repeat(author === '' ? depth : depth + 1)

function placeOf({ event, node = '' }: AgentSaid): Place {
  return { author: event.author, node: node || (event.branch ?? ''), depth: Math.min(node.split('/').length - 1, 4) }
}

function textOf(parts: readonly { readonly text?: string; readonly thought?: boolean }[], thoughts: boolean): string {
  return parts.map(({ text = '', thought }) => (thought === true && !thoughts ? '' : text)).join('')
}
