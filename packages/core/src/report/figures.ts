import type { Outcome } from '../event/run-event.ts'
import { runWord } from '../event/run-word.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

/** 640 ms, 3.2 s, 1 m 05 s, 1 h 15 m, 2 d 3 h: as on the page. */
export function spanText(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  // What would be rounded to 60.0 s is a minute.
  if (ms < minute - 50) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  if (ms < day) return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} m`
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`
}

const two = (number: number): string => String(number).padStart(2, '0')

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
