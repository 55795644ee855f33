import type { SessionInfo } from '@millrace/core'
import { useEffect } from 'react'
import { create } from 'zustand'
import { closeDrawer } from '../app/panes.ts'
import { currentRoute, navigate, useRoute } from '../app/route.ts'
import { titleOf, useSessions } from '../session/sessions.ts'
import { StatusDot } from '../session/status-dot.tsx'
import { IconButton } from '../ui/controls.tsx'
import { type Notice, noticesBetween } from './changes.ts'
import './notices.css'

/** At most so many are shown; older ones go. */
const most = 3
/** How long a notice of an end stays, in ms. One of a question stays until it is dismissed or the session is opened. */
const stays = 10_000

const useNotices = create<{ readonly notices: readonly Notice[] }>()(() => ({ notices: [] }))

const drop = (session: string): void =>
  useNotices.setState(({ notices }) => ({ notices: notices.filter(({ info }) => info.id !== session) }))

/** Tells that a session that is not shown waits for a person, or has ended. It takes no focus and makes no sound. */
export function Notices() {
  const { notices } = useNotices()
  const session = useRoute('session')
  useEffect(() => useSessions.subscribe(({ sessions }, before) => noted(before.sessions, sessions)), [])
  useEffect(() => {
    if (session !== undefined) drop(session)
  }, [session])
  return (
    <div className="notices" role="status" aria-live="polite" data-testid="notices">
      {notices.map((notice) => (
        <NoticeRow key={notice.info.id} notice={notice} />
      ))}
    </div>
  )
}

function noted(before: readonly SessionInfo[], after: readonly SessionInfo[]): void {
  if (before === after) return
  const made = noticesBetween(before, after, currentRoute().session)
  if (made.length === 0) return
  const changed = new Set(made.map(({ info }) => info.id))
  useNotices.setState(({ notices }) => ({
    notices: [...notices.filter(({ info }) => !changed.has(info.id)), ...made].slice(-most),
  }))
}

function NoticeRow({ notice }: { readonly notice: Notice }) {
  const { info, text, lasting } = notice
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new notice of the session starts its time anew
  useEffect(() => {
    if (lasting) return
    const timer = setTimeout(() => drop(info.id), stays)
    return () => clearTimeout(timer)
  }, [info.id, lasting, notice])
  return (
    <div className="notice" data-testid={`notice-${info.id}`}>
      <button
        type="button"
        onClick={() => {
          drop(info.id)
          navigate({ session: info.id })
          closeDrawer()
        }}
      >
        <StatusDot info={info} />
        <b className="ellipsis">{titleOf(info)}</b> <span className="notice-text">{text}</span>
      </button>
      <IconButton icon="close" label={`Dismiss: ${titleOf(info)} ${text}`} onClick={() => drop(info.id)} />
    </div>
  )
}
