/** What the user must know when a command fails: one sentence that says what is wrong and what to do, and the exit code. */
export class CommandError extends Error {
  /** 1: the work failed; 2: the arguments are wrong. */
  readonly code: number

  constructor(sentence: string, code: 1 | 2 = 1, options?: ErrorOptions) {
    super(sentence, options)
    this.name = 'CommandError'
    this.code = code
  }
}
