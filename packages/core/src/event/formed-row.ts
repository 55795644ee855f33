import type { PartialForm, RawRecorded } from './run-event.ts'

/**
 * The row of a partial that knows what it shares with the others of its message, so that they are printed without a look
 * at the shared text. To everyone else it is a row like any other.
 */
export class FormedRow implements RawRecorded {
  readonly seq: number
  readonly at: number
  readonly run: string
  readonly kind = 'partial'
  readonly body: string
  readonly #form: PartialForm
  readonly #own: string

  constructor(seq: number, at: number, run: string, body: string, form: PartialForm, own: string) {
    this.seq = seq
    this.at = at
    this.run = run
    this.body = body
    this.#form = form
    this.#own = own
  }

  static isFormed(row: RawRecorded): row is FormedRow {
    return #form in row
  }

  /** Not properties, so that a copy of the row, or its JSON, is that of any other row. */
  form(): PartialForm {
    return this.#form
  }

  own(): string {
    return this.#own
  }
}
