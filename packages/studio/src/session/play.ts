import { isPartial, type LiveLog, type Recorded } from '@millrace/core'
import { useEffect } from 'react'
import { create } from 'zustand'
import { useRoute } from '../app/route.ts'
import { goTo } from './cursor.ts'
import { rowIndexAt } from './row-index.ts'

/** Replays a session: the cursor moves by itself, at the pace at which the rows were recorded. */
export const usePlayer = create<{ readonly playing: boolean; readonly speed: number }>()(() => ({
  playing: false,
  speed: 1,
}))

/** Limits for the pause between two rows, in milliseconds: long waits for a model or a person are shortened. */
const longest = 600
const shortest = 16

export function setSpeed(speed: number): void {
  usePlayer.setState({ speed })
}

/** Plays from the cursor, or from the start when the page shows the latest. */
export function togglePlay(log: LiveLog): void {
  const { playing } = usePlayer.getState()
  if (!playing && log.rows.length === 0) return
  usePlayer.setState({ playing: !playing })
}

/** Moves the cursor while playing. Used once, by the workspace. */
export function usePlayback(log: LiveLog): void {
  const at = useRoute('at')
  const { playing, speed } = usePlayer()
  useEffect(() => {
    if (!playing) return
    const { rows } = log
    const here = at === undefined ? -1 : rowIndexAt(rows, at)
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

/** Moves the cursor by one row, skipping tokens unless `everyRow` is set. After the last row comes the latest. */
export function stepCursor(log: LiveLog, at: number | undefined, direction: 1 | -1, everyRow: boolean): void {
  usePlayer.setState({ playing: false })
  const { rows } = log
  if (at === undefined && direction === 1) return
  let index = (at === undefined ? rows.length - 1 : rowIndexAt(rows, at)) + direction
  while (!everyRow && index > 0 && index < rows.length && isToken(rows[index])) index += direction
  if (index >= rows.length) goTo(undefined)
  else goTo(rows[Math.max(0, index)]?.seq)
}

function isToken(row: Recorded | undefined): boolean {
  return row?.event.kind === 'agent' && isPartial(row.event.event)
}
