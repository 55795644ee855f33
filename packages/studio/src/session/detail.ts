import type { SessionHandle } from '@millrace/react'
import { useEffect } from 'react'
import { usePlayer } from './play.ts'

/** A cursor that rests here is looking at something. */
const rest = 120

/** Around the cursor every token is wanted; a long session is opened without those of its finished messages. */
export function useDetail(session: SessionHandle, at: number | undefined): void {
  const playing = usePlayer((player) => player.playing)
  useEffect(() => {
    if (at === undefined) return
    const timer = setTimeout(() => void session.fill(at), playing ? 0 : rest)
    return () => clearTimeout(timer)
  }, [session, at, playing])
}
