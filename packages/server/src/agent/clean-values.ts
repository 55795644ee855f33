import { createHash } from 'node:crypto'
import { type Json, sameJson } from '@millrace/core'
import { copyJson } from './copy-json.ts'
import { withoutSecrets } from './redact.ts'

/** A value as the log has it. */
export interface CleanValue {
  readonly value: Json
  readonly hash: string
  /** Characters of the value. */
  readonly size: number
}

interface Known extends CleanValue {
  /** A copy from before secrets were taken out. */
  readonly original: Json
}

/** The instructions and tools of so many agents are remembered, those that were used last. */
const mostKnown = 32

/** A longer text is not kept in memory. */
const longestKnown = 100_000

/**
 * Instructions and tools without secrets. They are the same in most calls and runs of an agent: to clean and hash them for
 * each run took a seventh of what its records cost.
 */
export class CleanValues {
  readonly #secrets: readonly string[]
  readonly #known: Known[] = []

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  /** Throws for what JSON cannot print. */
  of(value: Json): CleanValue {
    const at = this.#known.findIndex(({ original }) => sameJson(original, value))
    const known = this.#known[at] ?? this.#made(value)
    if (at > 0) this.#known.splice(at, 1)
    if (at !== 0 && known.size <= longestKnown) this.#known.unshift(known)
    this.#known.length = Math.min(this.#known.length, mostKnown)
    return known
  }

  #made(value: Json): Known {
    return { original: copyJson(value), ...hashed(withoutSecrets(JSON.stringify(value), this.#secrets)) }
  }
}

/** A value without secrets, under its hash. */
export function hashed(value: Json): CleanValue {
  const clean = JSON.stringify(value)
  const hash = createHash('sha256').update(clean).digest('base64url').slice(0, 16)
  return { value, hash, size: clean.length }
}

const bySecrets = new WeakMap<readonly string[], CleanValues>()

/** Shared by all runs with the same list of secrets. */
export function cleanValuesOf(secrets: readonly string[]): CleanValues {
  const known = bySecrets.get(secrets) ?? new CleanValues(secrets)
  bySecrets.set(secrets, known)
  return known
}
