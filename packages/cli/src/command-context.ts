import type { Env } from './env-files.ts'

/** What main gives to each command that it adds to the program. */
export interface CommandContext {
  readonly env: Env
  /** The folder that `serve` serves when no setting names one. */
  readonly agents: string | undefined
  /** Sets the exit code of a command that did its work and has bad news, such as errors that `check` found. */
  exitWith(code: number): void
}
