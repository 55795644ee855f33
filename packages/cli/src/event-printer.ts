import { functionCallsOf, functionResponsesOf, isPartial, type Recorded, type RunEvent, runWord } from '@millrace/core'
import { type Colours, columnsOf, durationText, oneLine, plain, visible } from './terminal.ts'

export interface PrinterOptions {
  readonly write: (text: string) => void
  readonly colours?: Colours
  /** Columns of a line about a tool or the state. */
  readonly width?: number
}

/** Prints a run for people as it comes: text by author as it streams, and a line for each tool, question and end. */
export class EventPrinter {
  readonly #write: (text: string) => void
  readonly #colours: Colours
  readonly #width: number
  /** The message whose text is being printed, and how much of it is. */
  #open: { readonly message: string; printed: number } | undefined
  #author: string | undefined
  readonly #streamed = new Map<string, number>()
  readonly #started = new Map<string, number>()
  readonly #calls = new Map<string, number>()

  constructor({ write, colours = plain, width = 100 }: PrinterOptions) {
    this.#write = write
    this.#colours = colours
    this.#width = Math.max(40, width)
  }

  push(row: Recorded): void {
    const { event } = row
    if (event.kind === 'agent') this.#said(event, row)
    else this.#other(row)
  }

  /** Ends the line that is being printed. */
  end(): void {
    if (this.#open !== undefined) this.#write('\n')
    this.#open = undefined
  }

  #said({ event, message }: Extract<RunEvent, { kind: 'agent' }>, { at }: Recorded): void {
    const partial = isPartial(event)
    const said = (event.content?.parts ?? [])
      .filter((part) => part.thought !== true)
      .map(({ text }) => (typeof text === 'string' ? text : ''))
      .join('')
    const before = this.#streamed.get(message) ?? 0
    // The aggregate repeats what its partials said; only what is new is printed.
    const fresh = partial ? said : said.slice(before)
    if (partial) this.#streamed.set(message, before + said.length)
    else this.#streamed.delete(message)
    if (fresh !== '') this.#text(message, event.author, fresh)
    if (!partial && this.#open?.message === message) this.end()
    if (partial) return
    const calls = functionCallsOf(event)
    const responses = functionResponsesOf(event)
    const state = Object.entries(event.actions?.stateDelta ?? {})
    if (calls.length + responses.length + state.length > 0 || typeof event.errorMessage === 'string')
      this.#head(event.author)
    for (const { id = '', name = '', args } of calls) {
      this.#calls.set(id, at)
      this.#line(this.#colours.accent('→'), `${name} ${this.#json(args, name)}`)
    }
    for (const { id = '', name = '', response } of responses) {
      const took = this.#calls.has(id) ? `  ${durationText(at - (this.#calls.get(id) ?? at))}` : ''
      this.#calls.delete(id)
      this.#line(this.#colours.good('←'), `${name} ${this.#json(response, name + took)}${this.#colours.faint(took)}`)
    }
    if (state.length > 0)
      this.#line(
        this.#colours.faint('~'),
        oneLine(state.map(([key, value]) => `${key} = ${this.#json(value)}`).join(', '), this.#width - 4),
      )
    if (typeof event.errorMessage === 'string')
      this.#line(this.#colours.bad('!'), oneLine(event.errorMessage, this.#width))
  }

  #other({ event, run, at }: Recorded): void {
    const { bad, good, warn, faint, strong } = this.#colours
    switch (event.kind) {
      case 'run.started': {
        this.#started.set(run, at)
        this.#author = undefined
        const asked = event.input.messages.flatMap(({ content }) => content.parts ?? []).map(({ text }) => text ?? '')
        const about = [event.agent, oneLine(asked.join(' '), this.#width - columnsOf(event.agent) - 6)]
          .filter((text) => text !== '')
          .join(': ')
        this.#line(strong('▶'), about === '' ? faint(`run ${visible(run)}`) : visible(about))
        return
      }
      case 'run.finished': {
        const began = this.#started.get(run) ?? at
        this.#started.delete(run)
        const word = runWord(event.outcome, event.error?.code)
        const paint = word === 'done' ? good : word === 'failed' ? bad : warn
        const why = event.error === undefined ? '' : `: ${oneLine(event.error.message, this.#width)}`
        const tokens = event.usage?.totalTokens === undefined ? [] : [`${event.usage.totalTokens} tokens`]
        // The end of a run that was cut off was written when the server started again.
        const took = word === 'cut off' ? [] : [`in ${durationText(at - began)}`]
        this.#line(paint('■'), `${paint(word)}${why} ${faint([...took, ...tokens].join(', '))}`.trimEnd())
        return
      }
      case 'interrupt':
        this.#line(warn('?'), oneLine(event.message ?? event.reason, this.#width))
        return
      case 'resumed':
        this.#line(warn('!'), `answered: ${event.status} ${this.#json(event.payload)}`)
        return
      case 'state':
        this.#line(faint('~'), `${event.patch.map(({ op, path }) => `${op} ${visible(path)}`).join(', ')}`)
        return
      case 'task.started':
      case 'task.finished':
        this.#line(faint('·'), `${event.kind === 'task.started' ? 'begins' : 'ends'} task ${visible(event.task)}`)
        return
      case 'artifact':
        this.#line(faint('+'), `${visible(event.name)} ${faint(`version ${event.version}`)}`)
        return
      case 'log':
        this.#line(faint('·'), faint(`${event.level}: ${oneLine(event.message, this.#width)}`))
        return
      case 'foreign':
        this.#line(bad('!'), `not read (${oneLine(event.reason, 60)}): ${oneLine(event.raw, this.#width)}`)
        return
      default:
        return
    }
  }

  #text(message: string, author: string, text: string): void {
    if (this.#open?.message !== message) {
      this.#head(author)
      this.#write('  ')
      this.#open = { message, printed: 0 }
    }
    this.#write(visible(text).replaceAll('\n', '\n  '))
  }

  /** Prints the author of the lines that follow, unless it is the author of the lines before. */
  #head(author: string): void {
    this.end()
    if (this.#author !== author) this.#write(`${this.#colours.strong(visible(author))}\n`)
    this.#author = author
  }

  #line(sign: string, text: string): void {
    this.end()
    this.#write(`  ${sign} ${text.trimEnd()}\n`)
  }

  /** One line of JSON after `before`, which is on the same line. */
  #json(value: unknown, before = ''): string {
    const room = Math.max(20, this.#width - columnsOf(before) - 5)
    return value === undefined ? '' : oneLine(JSON.stringify(value), room)
  }
}
