import type { SessionInfo } from '@millrace/core'
import { useEffect, useMemo, useState } from 'react'
import { closeDrawer, showPane } from '../app/panes.ts'
import { navigate, useRoute } from '../app/route.ts'
import { SidebarFoot } from '../app/sidebar-foot.tsx'
import { Button, IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { Logo } from '../ui/logo.tsx'
import { useFiles } from './files.ts'
import { SessionListRow } from './session-row.tsx'
import { mostListed, titleOf, useSessions } from './sessions.ts'
import './session-list.css'

/** Milliseconds between two polls. The list shows the status of running sessions, which must not become stale. */
const pollEvery = 4000

/** The sessions, newest first, with a search by title, agent or id. */
export function SessionList() {
  const { sessions, total, status, error, refresh, find } = useSessions()
  const files = useFiles(({ files }) => files)
  const [search, setSearch] = useState('')
  const now = usePolling(refresh)
  useEffect(() => {
    const words = search.trim()
    if (words === '' || total <= mostListed) return
    const timer = setTimeout(() => void find(words), 200)
    return () => clearTimeout(timer)
  }, [search, total, find])
  const groups = useMemo(() => grouped(sessions, search, now), [sessions, search, now])
  return (
    <>
      <header className="sidebar-head">
        <button type="button" className="brand" onClick={() => navigate({ session: undefined })}>
          <Logo /> Millrace
        </button>
        <IconButton icon="sidebar" label="Hide the session list ([)" onClick={() => showPane('sidebar', false)} />
      </header>
      <div className="sidebar-tools">
        <Button
          icon="plus"
          data-testid="new-session"
          onClick={() => {
            navigate({ session: undefined })
            closeDrawer()
          }}
        >
          New session
        </Button>
        <label className="search">
          <Icon name="search" />
          <span className="visually-hidden">Search sessions</span>
          <input
            id="session-search"
            type="search"
            placeholder="Search"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </label>
      </div>
      <div className="sessions scroll" data-testid="session-list">
        {files.length > 0 && <Group title="Opened files" sessions={files.map(({ info }) => info)} now={now} />}
        {groups.map(([title, members]) => (
          <Group key={title} title={title} sessions={members} now={now} />
        ))}
        {total > mostListed && search === '' && (
          <p className="sessions-note">
            Showing the newest {mostListed} of {total.toLocaleString('en')}. Search to find the others.
          </p>
        )}
        {groups.length === 0 && <Nothing status={status} error={error} search={search} />}
      </div>
      <SidebarFoot />
    </>
  )
}

function Group({
  title,
  sessions,
  now,
}: {
  readonly title: string
  readonly sessions: readonly SessionInfo[]
  readonly now: number
}) {
  const session = useRoute('session')
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {sessions.map((info) => (
          <SessionListRow key={info.id} info={info} current={info.id === session} now={now} />
        ))}
      </ul>
    </section>
  )
}

function Nothing({
  status,
  error,
  search,
}: {
  readonly status: string
  readonly error: string | undefined
  readonly search: string
}) {
  if (status === 'loading') return <p className="sessions-note">Loading sessions …</p>
  if (status === 'unauthorized') return <p className="sessions-note">This server requires an access token.</p>
  if (error !== undefined) return <p className="sessions-note bad-text">Cannot load the sessions: {error}</p>
  if (search !== '') return <p className="sessions-note">No session matches “{search}”.</p>
  return <p className="sessions-note">Your sessions will appear here. Drop a recorded stream on the page to open it.</p>
}

function usePolling(refresh: () => Promise<void>): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const ask = (): void => {
      if (document.hidden) return
      setNow(Date.now())
      void refresh()
    }
    ask()
    const timer = setInterval(ask, pollEvery)
    document.addEventListener('visibilitychange', ask)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', ask)
    }
  }, [refresh])
  return now
}

const day = 86_400_000

function grouped(sessions: readonly SessionInfo[], search: string, now: number): [string, SessionInfo[]][] {
  const wanted = search.trim().toLowerCase()
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  const groups = new Map<string, SessionInfo[]>()
  const sorted = [...sessions].sort((a, b) => b.updatedAt - a.updatedAt)
  for (const info of sorted) {
    if (wanted !== '' && !`${titleOf(info)} ${info.agent} ${info.id}`.toLowerCase().includes(wanted)) continue
    const { updatedAt } = info
    const name =
      updatedAt >= midnight
        ? 'Today'
        : updatedAt >= midnight - day
          ? 'Yesterday'
          : updatedAt >= midnight - 7 * day
            ? 'This week'
            : 'Earlier'
    groups.set(name, [...(groups.get(name) ?? []), info])
  }
  return [...groups]
}
