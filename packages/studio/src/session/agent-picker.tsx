import { useSettings } from '../app/settings.ts'
import { type AgentInfo, useSessions } from './sessions.ts'

/** The agent that the next session starts with: the one chosen last, otherwise the default of the server. */
export function useChosenAgent(): AgentInfo | undefined {
  const { agents, fallback } = useSessions()
  const chosen = useSettings(({ agent }) => agent)
  const usable = agents.filter(({ error }) => error === undefined)
  return usable.find(({ name }) => name === chosen) ?? usable.find(({ name }) => name === fallback) ?? usable[0]
}

export function AgentPicker() {
  const agents = useSessions((state) => state.agents)
  const chosen = useChosenAgent()
  const set = useSettings((settings) => settings.set)
  return (
    <label className="agent-picker">
      <span className="visually-hidden">Agent</span>
      <select
        data-testid="agent-picker"
        value={chosen?.name ?? ''}
        onChange={(event) => set({ agent: event.target.value })}
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
