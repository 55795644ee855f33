import type { SessionInfo } from '@millrace/core'
import { create } from 'zustand'
import { client } from './client.ts'
import { useFiles } from './files.ts'

/** An agent as `GET /agents` tells it. */
export interface AgentInfo {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly engine: string
  readonly examples: readonly string[]
  readonly graph: {
    readonly nodes: readonly { readonly id: string; readonly kind: string; readonly description?: string }[]
    readonly edges: readonly { readonly from: string; readonly to: string; readonly label?: string }[]
  }
  readonly model?: { readonly name: string; readonly offline: boolean }
  readonly tools?: readonly string[]
  readonly error?: string
}

interface Sessions {
  readonly sessions: readonly SessionInfo[]
  readonly agents: readonly AgentInfo[]
  readonly fallback: string
  readonly agentsReady: boolean
  readonly status: 'loading' | 'ready' | 'failed' | 'unauthorized'
  readonly error: string | undefined
  refresh(): Promise<void>
  loadAgents(): Promise<void>
}

/** The lists of the page. The log of a session is not here: that is `useSession`. */
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
    agents: [],
    fallback: '',
    agentsReady: false,
    status: 'loading',
    error: undefined,
    async refresh() {
      try {
        const { sessions } = (await client.request('sessions?limit=200')) as { sessions: readonly SessionInfo[] }
        set((before) => ({ sessions: kept(before.sessions, sessions), status: 'ready', error: undefined }))
      } catch (error) {
        failed(error)
      }
    },
    async loadAgents() {
      try {
        const { agents, fallback } = (await client.request('agents')) as Pick<Sessions, 'agents' | 'fallback'>
        set({ agents, fallback, agentsReady: true })
      } catch (error) {
        failed(error)
      }
    },
  }
})

/** What did not change stays the same object, so that a poll without news renders nothing. */
function kept(before: readonly SessionInfo[], after: readonly SessionInfo[]): readonly SessionInfo[] {
  const known = new Map(before.map((info) => [info.id, info]))
  const next = after.map((info) => {
    const old = known.get(info.id)
    return old !== undefined && JSON.stringify(old) === JSON.stringify(info) ? old : info
  })
  return next.length === before.length && next.every((info, i) => info === before[i]) ? before : next
}

export function useSessionInfo(id: string): SessionInfo | undefined {
  const opened = useFiles(({ files }) => files.find(({ info }) => info.id === id)?.info)
  const listed = useSessions(({ sessions }) => sessions.find((session) => session.id === id))
  return opened ?? listed
}

export const titleOf = ({ title, id }: SessionInfo): string => (title === '' ? `Session ${id.slice(0, 8)}` : title)
