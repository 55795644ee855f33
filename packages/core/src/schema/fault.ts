/** What is wrong with one field: `messages[0].role`, `must be one of user, tool`. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** More errors than these help no reader, and a hostile list could hold millions. */
export const mostErrors = 100

/**
 * Why a value does not have its shape. Paths start inside that value: `.content.parts[2].text`, or '' for the value.
 */
export class Fault {
  readonly #errors: readonly FieldError[]

  constructor(errors: readonly FieldError[]) {
    this.#errors = errors
  }

  /** The errors with paths as a caller writes them: `messages[0].role`. */
  get errors(): readonly FieldError[] {
    return this.#errors.map(({ path, message }) => ({ path: path.replace(/^\./, ''), message }))
  }

  /** The same errors, seen from the value that holds this one at `step`: `.name` or `[3]`. */
  under(step: string): Fault {
    return new Fault(this.#errors.map(({ path, message }) => ({ path: step + path, message })))
  }

  /** The first error as a sentence about a value of this name: `event.content.parts[2].text must be a string`. */
  describe(name = ''): string {
    const [first] = this.#errors
    if (first === undefined) return name
    const path = name === '' ? first.path.replace(/^\./, '') : name + first.path
    return path === '' ? first.message : `${path} ${first.message}`
  }

  /** The errors of several results, of which those that are no faults have none. */
  static join(results: readonly unknown[]): Fault {
    return new Fault(results.flatMap((result) => (result instanceof Fault ? result.#errors : [])))
  }
}

/** A fault of the value itself, or of what it holds at `path`. */
export function faultAt(path: string, message: string): Fault {
  return new Fault([{ path, message }])
}
