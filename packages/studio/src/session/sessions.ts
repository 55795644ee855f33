import type { SessionInfo } from '@millrace/core'
import { useEffect } from 'react'
import { create } from 'zustand'
import { type Caller, client } from './client.ts'
import { isFile, useFiles } from './files.ts'

/** An agent as `GET /agents` describes it. */
export interface AgentInfo {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly engine: string
  readonly engineLabel?: string
  readonly examples: readonly string[]
  readonly graph: {
    readonly nodes: readonly {
      readonly id: string
      readonly kind: string
      readonly parent?: string
      readonly description?: string
    }[]
    readonly edges: readonly { readonly from: string; readonly to: string; readonly label?: string }[]
  }
  readonly model?: { readonly name: string; readonly offline: boolean }
  readonly tools?: readonly string[]
  readonly error?: string
  /** Why its newest edit does not run; the version before it does. */
  readonly editError?: string
}

interface Sessions {
  /** The newest sessions, and those that a search found beyond them. */
  readonly sessions: readonly SessionInfo[]
  /** How many sessions the server has in total. */
  readonly total: number
  readonly agents: readonly AgentInfo[]
  readonly fallback: string
  readonly agentsReady: boolean
  /** Who is signed in; undefined until the server has answered. */
  readonly caller: Caller | undefined
  readonly status: 'loading' | 'ready' | 'failed' | 'unauthorized'
  readonly error: string | undefined
  refresh(): Promise<void>
  /** Searches the server for sessions by a part of their title or id, including those beyond the newest. */
  find(words: string, only?: Only): Promise<void>
  forget(id: string): void
  loadAgents(): Promise<void>
  loadCaller(): Promise<void>
}

/** The lists of sessions and agents. The log of a session comes from `useSession`. */
export const useSessions = create<Sessions>()((set) => {
  const failed = (error: unknown): void => {
    const unauthorized = error instanceof Error && 'status' in error && error.status === 401
    set({
      status: unauthorized ? 'unauthorized' : 'failed',
      error: error instanceof Error ? error.message : String(error),
    })
  }
  return {
    sessions: [],
    total: 0,
    agents: [],
    fallback: '',
    agentsReady: false,
    caller: undefined,
    status: 'loading',
    error: undefined,
    async refresh() {
      try {
        const { sessions, total } = await list('')
        // A question may be older than all sessions of the list, and must not be forgotten for it.
        const waiting = total > mostListed ? (await list('', { status: 'interrupted' })).sessions : []
        for (const { id } of waiting) found.add(id)
        newest = new Set(sessions.map(({ id }) => id))
        const beyond = (before: readonly SessionInfo[]) => {
          const known = new Map([...before, ...waiting].map((info) => [info.id, info]))
          return [...known.values()].filter(({ id }) => found.has(id) && !newest.has(id))
        }
        set((before) => ({
          sessions: reuseUnchanged(before.sessions, [...sessions, ...beyond(before.sessions)]),
          total,
          status: 'ready',
          error: undefined,
        }))
      } catch (error) {
        failed(error)
      }
    },
    async find(words, only = {}) {
      const { sessions } = await list(words, only).catch(() => ({ sessions: [] }))
      const more = sessions.filter(({ id }) => !newest.has(id))
      for (const { id } of more) found.add(id)
      const others = (before: readonly SessionInfo[]) => before.filter(({ id }) => !more.some((each) => each.id === id))
      set((before) => ({ sessions: reuseUnchanged(before.sessions, [...others(before.sessions), ...more]) }))
    },
    forget(id) {
      found.delete(id)
      set((before) => ({ sessions: before.sessions.filter((info) => info.id !== id) }))
    },
    async loadAgents() {
      try {
        const { agents, fallback } = (await client.request('agents')) as Pick<Sessions, 'agents' | 'fallback'>
        set({ agents, fallback, agentsReady: true })
      } catch (error) {
        failed(error)
      }
    },
    async loadCaller() {
      // The lists report what is wrong; here nothing is shown then.
      const caller = (await client.request('me').catch(() => undefined)) as Caller | undefined
      set({ caller })
    },
  }
})

/** How many sessions the page lists. A search finds the others. */
export const mostListed = 200

interface Listed {
  readonly sessions: readonly SessionInfo[]
  readonly total: number
}

let newest: ReadonlySet<string> = new Set()
const found = new Set<string>()

/** The agent or the status that all of them have. */
interface Only {
  readonly agent?: string
  readonly status?: string
}

async function list(words: string, only: Only = {}): Promise<Listed> {
  const wanted = Object.entries({ search: words, ...only }).filter(([, value]) => value !== '')
  const query = wanted.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join('')
  return (await client.request(`sessions?limit=${mostListed}${query}`)) as Listed
}

/** Unchanged sessions stay the same objects, so that a poll without changes renders nothing. */
function reuseUnchanged(before: readonly SessionInfo[], after: readonly SessionInfo[]): readonly SessionInfo[] {
  const known = new Map(before.map((info) => [info.id, info]))
  const next = after.map((info) => {
    const old = known.get(info.id)
    return old !== undefined && JSON.stringify(old) === JSON.stringify(info) ? old : info
  })
  return next.length === before.length && next.every((info, i) => info === before[i]) ? before : next
}

export function useSessionInfo(id: string): SessionInfo | undefined {
  const { find } = useSessions.getState()
  const listing = useSessions(({ status }) => status === 'ready')
  const opened = useFiles(({ files }) => files.find(({ info }) => info.id === id)?.info)
  const listed = useSessions(({ sessions }) => sessions.find((session) => session.id === id))
  const missing = listing && opened === undefined && listed === undefined && !isFile(id)
  // A link may lead to a session that is too old to be in the list.
  useEffect(() => {
    if (missing) void find(id)
  }, [missing, find, id])
  return opened ?? listed
}

export const titleOf = ({ title, id }: SessionInfo): string => (title === '' ? `Session ${id.slice(0, 8)}` : title)
