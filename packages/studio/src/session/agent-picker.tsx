import { navigate, useRoute } from '../app/route.ts'
import { useSettings } from '../app/settings.ts'
import { type AgentInfo, useSessions } from './sessions.ts'

/** The agent that the next session starts with: the address's, the one chosen last, or the default of the server. */
export function useChosenAgent(): AgentInfo | undefined {
  const { agents, fallback } = useSessions()
  const linked = useRoute('agent')
  const chosen = useSettings(({ agent }) => agent)
  const usable = agents.filter(({ error }) => error === undefined)
  const named = (wanted: string | undefined) => usable.find(({ name }) => name === wanted)
  return named(linked) ?? named(chosen) ?? named(fallback) ?? usable[0]
}

/** A choice on the page counts from then on, also against the one that the address had. */
export function chooseAgent(name: string): void {
  navigate({ agent: undefined })
  useSettings.getState().set({ agent: name })
}

export function AgentPicker() {
  const agents = useSessions((state) => state.agents)
  const chosen = useChosenAgent()
  return (
    <label className="agent-picker">
      <span className="visually-hidden">Agent</span>
      <select
        data-testid="agent-picker"
        value={chosen?.name ?? ''}
        onChange={(event) => chooseAgent(event.target.value)}
      >
        {agents.map(({ name, title, error }) => (
          <option key={name} value={name} disabled={error !== undefined}>
            {title ?? name}
          </option>
        ))}
      </select>
    </label>
  )
}
