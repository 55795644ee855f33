import type { Outcome } from '../event/run-event.ts'
import { runWord } from '../event/run-word.ts'

/** 640 ms, 3.2 s, 1 m 05 s: as on the page. */
export function spanText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  return `${minutes} m ${String(Math.round((ms % 60_000) / 1000)).padStart(2, '0')} s`
}

/** A report is read in many places, so that its times are those of UTC. */
export function timeText(at: number): string {
  if (!(Math.abs(at) <= 8.64e15)) return 'unknown'
  // biome-ignore lint/style/noRestrictedGlobals: a Date built from a number reads no clock
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

export function countText(value: number | undefined): string {
  return value === undefined ? '–' : value.toLocaleString('en-US')
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

/** The words for the state of a run, as on the page. A run without a known end is no failure. */
export function outcomeText(outcome: Outcome | undefined, code: string | undefined): string {
  return runWord(outcome ?? 'running', code)
}
