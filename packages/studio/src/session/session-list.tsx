import type { SessionInfo } from '@millrace/core'
import { useEffect, useMemo, useState } from 'react'
import { closeDrawer, showPane } from '../app/panes.ts'
import { navigate, useRoute } from '../app/route.ts'
import { SidebarFoot } from '../app/sidebar-foot.tsx'
import { showPalette } from '../find/palette-store.ts'
import { InboxButton } from '../inbox/inbox-button.tsx'
import { Button, IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { withCommand } from '../ui/key-name.ts'
import { Logo } from '../ui/logo.tsx'
import { useFiles } from './files.ts'
import { isFiltered, ListFilterFields, type ListFilters, passes, useListFilters } from './list-filters.tsx'
import { useNow } from './polling.ts'
import { SessionListRow } from './session-row.tsx'
import { mostListed, titleOf, useSessions } from './sessions.ts'
import './session-list.css'

/** The sessions, newest first, with a search by title, agent or id. */
export function SessionList() {
  const { sessions, total, status, error, find } = useSessions()
  const files = useFiles(({ files }) => files)
  const [search, setSearch] = useState('')
  const filters = useListFilters()
  const { agent, status: only } = filters
  const now = useNow()
  useEffect(() => {
    const words = search.trim()
    if ((words === '' && agent === '' && only === '') || total <= mostListed) return
    const timer = setTimeout(() => void find(words, { agent, status: only }), 200)
    return () => clearTimeout(timer)
  }, [search, total, find, agent, only])
  const groups = useMemo(() => grouped(sessions, search, now, filters), [sessions, search, now, filters])
  return (
    <>
      <header className="sidebar-head">
        <button type="button" className="brand" onClick={() => navigate({ session: undefined })}>
          <Logo /> Millrace
        </button>
        <span className="sidebar-head-tools">
          <IconButton
            icon="search"
            label={`Search everything (${withCommand('K')})`}
            onClick={showPalette}
            data-testid="open-palette"
          />
          <InboxButton />
          <IconButton icon="sidebar" label="Hide the session list ([)" onClick={() => showPane('sidebar', false)} />
        </span>
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
        <div className="sidebar-search">
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
          <IconButton
            icon="filter"
            label="Filter by agent, status and date"
            className={isFiltered(filters) ? 'active' : ''}
            aria-expanded={filters.shown}
            data-testid="show-filters"
            onClick={() => useListFilters.setState({ shown: !filters.shown })}
          />
        </div>
        <ListFilterFields />
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
        {groups.length === 0 && (
          <Nothing status={status} error={error} search={search} filtered={isFiltered(filters)} />
        )}
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
  filtered,
}: {
  readonly status: string
  readonly error: string | undefined
  readonly search: string
  readonly filtered: boolean
}) {
  if (status === 'loading') return <p className="sessions-note">Loading sessions…</p>
  if (status === 'unauthorized') return <p className="sessions-note">This server requires an access token.</p>
  if (error !== undefined) return <p className="sessions-note bad-text">Cannot load the sessions: {error}</p>
  if (search !== '') return <p className="sessions-note">No session matches “{search}”.</p>
  if (filtered) return <p className="sessions-note">No sessions match these filters.</p>
  return <p className="sessions-note">Your sessions will appear here. Drop a recorded stream on the page to open it.</p>
}

const day = 86_400_000

function grouped(
  sessions: readonly SessionInfo[],
  search: string,
  now: number,
  filters: ListFilters,
): [string, SessionInfo[]][] {
  const wanted = search.trim().toLowerCase()
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  const groups = new Map<string, SessionInfo[]>()
  const sorted = [...sessions].sort((a, b) => b.updatedAt - a.updatedAt)
  for (const info of sorted) {
    if (!passes(info, filters, now)) continue
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
