import type { Recorded, View } from '@millrace/core'
import type { SessionHandle } from '@millrace/react'
import { useView } from '@millrace/react'
import { useMemo } from 'react'
import { assignColours } from '../ui/agent-colour.ts'

/** The agents that took part, in the order of their first step. The list only grows, so no agent changes its colour. */
const agentsSeenView: View<readonly string[]> = {
  name: 'agents-seen',
  initial: [],
  apply(seen, row) {
    const name = nameIn(row)
    return name === undefined || seen.includes(name) ? seen : [...seen, name]
  },
}

function nameIn({ event }: Recorded): string | undefined {
  if (event.kind === 'node.started') return event.agent
  if (event.kind === 'agent' && event.event.author !== 'user') return event.event.author
  return undefined
}

/** Assigns the colours before the session is first drawn, and again when another agent joins. */
export function useAgentColours({ log }: SessionHandle): void {
  const seen = useView(log, agentsSeenView)
  useMemo(() => assignColours(seen), [seen])
}
