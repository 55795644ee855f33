import { expect, vi } from 'vitest'

export type ListedAgent = Readonly<Record<string, unknown>> & {
  readonly name: string
  readonly engine: string
  readonly error?: string
  readonly editError?: string
}

/**
 * What `GET /agents` says once no agent is loading. The list does not wait for ever (docs/agents.md), so on a busy machine
 * it may come before that: it is asked again, until it hangs.
 */
export function loadedAgents(address: string): Promise<readonly ListedAgent[]> {
  return vi.waitFor(
    async () => {
      const answer = await fetch(`${address}/agents`)
      const { agents } = (await answer.json()) as { agents: readonly ListedAgent[] }
      expect(agents.flatMap(loading)).toEqual([])
      return agents
    },
    { timeout: 600_000, interval: 50 },
  )
}

/** The reason of an agent that is loading, for the first time or after an edit. */
function loading({ engine, error = '', editError = '' }: ListedAgent): readonly string[] {
  return engine === 'loading' || editError.includes('is still loading') ? [error + editError] : []
}
