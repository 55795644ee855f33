import { defined } from '@millrace/core'

/** What users share: connections, work and room. */
export type ShareName =
  | 'runs'
  | 'starts'
  | 'queued'
  | 'streams'
  | 'reads'
  | 'writes'
  | 'imports'
  | 'forks'
  | 'sessions'
  | 'bytes'

/** How much of it one user may have, and all users together. */
export interface FairShare {
  /** Where no user has to prove who they are, this counts for no one: one person owns everything. */
  readonly user: number
  readonly all: number
}

export type Shares = Readonly<Record<ShareName, FairShare>>

/** How each is counted. */
export const shareKinds: Readonly<Record<ShareName, 'at once' | 'per minute' | 'kept'>> = {
  runs: 'at once',
  starts: 'per minute',
  queued: 'at once',
  streams: 'at once',
  reads: 'at once',
  writes: 'per minute',
  imports: 'per minute',
  forks: 'per minute',
  sessions: 'kept',
  bytes: 'kept',
}

const noLimit = Number.POSITIVE_INFINITY

export const defaultShares: Shares = {
  runs: { user: 50, all: 200 },
  starts: { user: 120, all: noLimit },
  queued: { user: 0, all: 0 },
  streams: { user: 1_000, all: 20_000 },
  reads: { user: 64, all: 1_024 },
  writes: { user: 1_200, all: 60_000 },
  imports: { user: 30, all: 3_000 },
  forks: { user: 60, all: 3_000 },
  sessions: { user: 20_000, all: noLimit },
  bytes: { user: 4 * 2 ** 30, all: noLimit },
}

/** Shares as a caller gives them: what is absent stays as it is. */
export type SomeShares = {
  readonly [name in ShareName]?: { readonly user?: number | undefined; readonly all?: number | undefined } | undefined
}

export function sharesWith(some: SomeShares = {}): Shares {
  const entries = Object.entries(defaultShares).map(([name, share]) => [
    name,
    { ...share, ...defined(some[name as ShareName] ?? {}) },
  ])
  return Object.fromEntries(entries) as Shares
}
