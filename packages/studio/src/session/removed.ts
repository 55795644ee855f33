import type { SessionInfo } from '@millrace/core'
import { create } from 'zustand'
import { client } from './client.ts'

/** The deleted sessions that the server can still bring back. Their `createdAt` is when they were deleted. */
export const useRemoved = create<{
  readonly sessions: readonly SessionInfo[]
  refresh(): Promise<void>
}>()((set) => ({
  sessions: [],
  async refresh() {
    // An older server has no such list; there nothing can be brought back.
    const answer = await client.request('sessions?removed=true').catch(() => ({ sessions: [] }))
    set({ sessions: (answer as { readonly sessions: readonly SessionInfo[] }).sessions })
  },
}))
