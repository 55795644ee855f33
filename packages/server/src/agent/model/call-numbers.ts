interface Call {
  readonly id?: string
  readonly name?: string
}

/**
 * The ids of the tool calls in one request. ADK strips the ids that it made, and small servers make ids that repeat, so
 * each request numbers its calls in order. An answer belongs to the open call with its id, else to the oldest open call
 * of its name.
 */
export class CallNumbers {
  readonly #prefix: string
  readonly #open: { readonly number: string; readonly id: string | undefined; readonly name: string | undefined }[] = []
  #count = 0
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  made({ id, name }: Call): string {
    this.#count += 1
    const number = `${this.#prefix}${this.#count}`
    this.#open.push({ number, id, name })
    return number
  }

  /** The number of the call that this answers; undefined when there is none. */
  answered({ id, name }: Call): string | undefined {
    const byId = id === undefined || id === '' ? -1 : this.#open.findIndex((call) => call.id === id)
    const at = byId >= 0 ? byId : this.#open.findIndex((call) => call.name === name)
    return at < 0 ? undefined : this.#open.splice(at, 1)[0]?.number
  }
}
