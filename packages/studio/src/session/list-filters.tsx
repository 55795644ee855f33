import { type RunWord, type SessionInfo, sessionWord } from '@millrace/core'
import { create } from 'zustand'
import { useSessions } from './sessions.ts'

/** What the list of sessions is narrowed to; an empty field lets everything through. */
export interface ListFilters {
  readonly agent: string
  readonly status: RunWord | ''
  /** So many days back, counted from the last midnight. */
  readonly days: number
}

export const noFilters: ListFilters = { agent: '', status: '', days: 0 }

export const useListFilters = create<ListFilters & { readonly shown: boolean }>()(() => ({
  ...noFilters,
  shown: false,
}))

export function isFiltered({ agent, status, days }: ListFilters): boolean {
  return agent !== '' || status !== '' || days > 0
}

export function passes(info: SessionInfo, { agent, status, days }: ListFilters, now: number): boolean {
  if (agent !== '' && info.agent !== agent) return false
  if (status !== '' && sessionWord(info) !== status) return false
  return days === 0 || info.updatedAt >= new Date(now).setHours(0, 0, 0, 0) - (days - 1) * 86_400_000
}

const statuses: readonly RunWord[] = ['running', 'waiting', 'done', 'failed', 'cut off', 'cancelled', 'not started']
const times = [
  [0, 'Any time'],
  [1, 'Today'],
  [7, 'Last 7 days'],
  [30, 'Last 30 days'],
] as const

/** The fields that narrow the list of sessions. */
export function ListFilterFields() {
  const filters = useListFilters()
  const sessions = useSessions((state) => state.sessions)
  const agents = useSessions((state) => state.agents)
  if (!filters.shown) return null
  const names = [...new Set([...agents.map(({ name }) => name), ...sessions.map(({ agent }) => agent)])]
    .filter((name) => name !== '')
    .sort()
  return (
    <fieldset className="list-filters" data-testid="list-filters">
      <legend className="visually-hidden">Filters</legend>
      <select
        aria-label="Agent"
        data-testid="filter-agent"
        value={filters.agent}
        onChange={(event) => useListFilters.setState({ agent: event.target.value })}
      >
        <option value="">Any agent</option>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        aria-label="Status"
        data-testid="filter-status"
        value={filters.status}
        onChange={(event) => useListFilters.setState({ status: event.target.value as ListFilters['status'] })}
      >
        <option value="">Any status</option>
        {statuses.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <select
        aria-label="Date"
        data-testid="filter-date"
        value={filters.days}
        onChange={(event) => useListFilters.setState({ days: Number(event.target.value) })}
      >
        {times.map(([days, name]) => (
          <option key={days} value={days}>
            {name}
          </option>
        ))}
      </select>
      {isFiltered(filters) && (
        <button type="button" className="link" onClick={() => useListFilters.setState(noFilters)}>
          Clear the filters
        </button>
      )}
    </fieldset>
  )
}
