import type { Evidence } from '@millrace/core'
import { create } from 'zustand'

interface Lit {
  /** Calls whose cards are lit, by `run` and id, and rows whose messages are. */
  readonly calls: ReadonlySet<string>
  readonly seqs: ReadonlySet<number>
  /** The lit card that the conversation must show, from 0; undefined until the person asks for one. */
  readonly current: number | undefined
  /** The evidence that the user asked to see, until the conversation has found its card. */
  readonly asked: Pick<Evidence, 'call' | 'seq'> | undefined
  light(evidence: readonly Evidence[]): void
}

const nothing = { calls: new Set<string>(), seqs: new Set<number>(), current: undefined, asked: undefined }

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
      current: undefined,
      asked: undefined,
    })
  },
}))

/** Shows another lit card: the next one, the one before, or the first. */
export function stepLit(by: 1 | -1, count: number): void {
  if (count === 0) return
  useLit.setState(({ current }) => ({
    current: current === undefined ? (by === 1 ? 0 : count - 1) : (current + by + count) % count,
  }))
}
