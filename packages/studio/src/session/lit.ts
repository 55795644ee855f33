import type { Evidence } from '@millrace/core'
import { create } from 'zustand'

interface Lit {
  /** Calls whose cards are lit, by `run` and id, and rows whose messages are. */
  readonly calls: ReadonlySet<string>
  readonly seqs: ReadonlySet<number>
  light(evidence: readonly Evidence[]): void
}

const nothing = { calls: new Set<string>(), seqs: new Set<number>() }

/** What the proof panel points at: tool cards and messages of the conversation that hold the chosen figure. */
export const useLit = create<Lit>((set, get) => ({
  ...nothing,
  light: (evidence) => {
    if (evidence.length === 0) {
      if (get().seqs.size > 0) set(nothing)
      return
    }
    set({
      calls: new Set(evidence.flatMap(({ call }) => (call === undefined ? [] : [call]))),
      seqs: new Set(evidence.map(({ seq }) => seq)),
    })
  },
}))
