import type { SessionFacts } from '@millrace/core'
import { checkpointBlock } from '@millrace/core/store'

/** Sessions whose newest facts stay in memory, and the characters of their states together. */
const maxKept = 64
const maxKeptText = 32 * 1024 * 1024
/** Characters of a state that may wait in memory for its checkpoint. */
const maxDueText = 2 * 1024 * 1024
/** Facts in memory. */
export interface KeptFacts {
  readonly facts: SessionFacts
  /** The seq of the last checkpoint. */
  readonly saved: number
  /** The characters of the state. */
  readonly size: number
}

/** Whether facts may wait in memory until their checkpoint is written. */
export function mayWait({ size }: KeptFacts): boolean {
  return size <= maxDueText
}

/** Checkpoints after this seq go when one at `seq` is written, also those beyond it: their rows did not exist yet. */
export function thinnedAfter(seq: number): number {
  return Math.floor((seq - 1) / checkpointBlock) * checkpointBlock
}

/** Keeps a value as the newest of a bounded number. */
export function keepNewest<K, T>(bounded: Map<K, T>, key: K, value: T): void {
  bounded.delete(key)
  bounded.set(key, value)
  for (const oldest of bounded.keys()) {
    if (bounded.size <= maxKept) break
    bounded.delete(oldest)
  }
}

/** Keeps facts as the newest of a bounded number, and of a bounded number of characters. */
export function keepFacts<K, T extends KeptFacts>(kept: Map<K, T>, key: K, value: T): void {
  keepNewest(kept, key, value)
  let text = 0
  for (const { size } of kept.values()) text += size
  for (const [oldest, { size }] of kept) {
    if (text <= maxKeptText) break
    text -= size
    kept.delete(oldest)
  }
}
