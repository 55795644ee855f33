import type { SessionHandle } from '@millrace/react'
import { useEffect } from 'react'
import { usePlayer } from './play.ts'

/** Milliseconds that the cursor must stay at one event before the tokens are loaded. */
const rest = 120

/** A long session is opened without the tokens of its completed messages; this loads those around the cursor. */
export function useTokenLoading(session: SessionHandle, at: number | undefined): void {
  const playing = usePlayer((player) => player.playing)
  useEffect(() => {
    if (at === undefined) return
    const timer = setTimeout(() => void session.fill(at), playing ? 0 : rest)
    return () => clearTimeout(timer)
  }, [session, at, playing])
}
