/**
 * How far a run is:
 *
 *           start            finish            settle            release
 *    ready ───────▶ running ────────▶ ending ────────▶ ended ──────────▶ released
 *                                      ▲  │            ▲  │               ▲  │
 *                                      └──┘ finish     └──┘ finish        └──┘ finish
 *
 *   ready     it has its lease and its first rows; the agent has not been called
 *   running   the agent yields events, and they are recorded
 *   ending    how it ends is decided, but not yet durable; nothing that the agent yields is recorded any more
 *   ended     its end is durable, or another process has taken the run over
 *   released  the agent let go, or the grace period is over, and the session is free for the next run
 *
 * The agent, a person, the clock and the store may all finish a run. The first decides; the others change nothing.
 */
export type RunPhase = 'ready' | 'running' | 'ending' | 'ended' | 'released'

export type RunStep = 'start' | 'finish' | 'settle' | 'release'

const illegal = undefined

/** Every step in every phase. */
const table: Readonly<Record<RunPhase, Readonly<Record<RunStep, RunPhase | undefined>>>> = {
  ready: { start: 'running', finish: illegal, settle: illegal, release: illegal },
  running: { start: illegal, finish: 'ending', settle: illegal, release: illegal },
  ending: { start: illegal, finish: 'ending', settle: 'ended', release: illegal },
  ended: { start: illegal, finish: 'ended', settle: illegal, release: 'released' },
  released: { start: illegal, finish: 'released', settle: illegal, release: illegal },
}

/** The phase after the step. An illegal step is a bug of the engine, and throws. */
export function nextPhase(phase: RunPhase, step: RunStep): RunPhase {
  const next = table[phase][step]
  if (next === illegal) throw new Error(`a run that is ${phase} cannot ${step}`)
  return next
}
