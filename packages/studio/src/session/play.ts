import type { LiveLog, Recorded } from '@millrace/core'
import { useEffect } from 'react'
import { create } from 'zustand'
import { useRoute } from '../app/route.ts'
import { goTo } from './cursor.ts'

/** Replaying a session: the cursor moves by itself, at the pace the rows came in. */
export const usePlayer = create<{ readonly playing: boolean; readonly speed: number }>()(() => ({
  playing: false,
  speed: 1,
}))

/** A wait of a model or a person is not waited for again. */
const longest = 600
const shortest = 16

export function setSpeed(speed: number): void {
  usePlayer.setState({ speed })
}

/** Plays on from the cursor; from the start when the page is live. */
export function togglePlay(log: LiveLog): void {
  const { playing } = usePlayer.getState()
  if (!playing && log.rows.length === 0) return
  usePlayer.setState({ playing: !playing })
}

/** Moves the cursor while playing; once, in the frame around the panels. */
export function usePlayback(log: LiveLog): void {
  const at = useRoute('at')
  const { playing, speed } = usePlayer()
  useEffect(() => {
    if (!playing) return
    const { rows } = log
    const here = at === undefined ? -1 : indexOf(rows, at)
    const next = rows[here + 1]
    if (next === undefined) {
      usePlayer.setState({ playing: false })
      goTo(undefined)
      return
    }
    const gap = here < 0 ? 0 : next.at - (rows[here]?.at ?? next.at)
    const timer = setTimeout(() => goTo(next.seq), Math.max(shortest, Math.min(longest, gap)) / speed)
    return () => clearTimeout(timer)
  }, [log, at, playing, speed])
  useEffect(() => () => usePlayer.setState({ playing: false }), [])
}

/** One step: tokens are passed over unless every row is wanted. Beyond the last row is live. */
export function stepCursor(log: LiveLog, at: number | undefined, direction: 1 | -1, everyRow: boolean): void {
  usePlayer.setState({ playing: false })
  const { rows } = log
  if (at === undefined && direction === 1) return
  let index = (at === undefined ? rows.length - 1 : indexOf(rows, at)) + direction
  while (!everyRow && index > 0 && index < rows.length && isToken(rows[index])) index += direction
  if (index >= rows.length) goTo(undefined)
  else goTo(rows[Math.max(0, index)]?.seq)
}

function isToken(row: Recorded | undefined): boolean {
  return row?.event.kind === 'agent' && row.event.event.partial === true
}

/** Where the row `seq` is, or the last before it. */
export function indexOf(rows: readonly Recorded[], seq: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low - 1
}
