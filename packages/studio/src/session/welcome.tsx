import { useEffect, useMemo, useState } from 'react'
import { togglePane, usePane } from '../app/panes.ts'
import { showError } from '../app/toast.tsx'
import { Composer } from '../conversation/composer.tsx'
import { distinctInitials } from '../ui/agent-colour.ts'
import { IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { Logo } from '../ui/logo.tsx'
import { AgentCard } from './agent-card.tsx'
import { AgentPicker, useChosenAgent } from './agent-picker.tsx'
import { beginSession } from './session-actions.ts'
import { type AgentInfo, useSessions } from './sessions.ts'
import { TokenForm } from './token-form.tsx'
import './welcome.css'

/** The start page: the available agents, and a field for the first message. */
export function Welcome() {
  const { agents, agentsReady, status } = useSessions()
  const chosen = useChosenAgent()
  const sidebar = usePane('sidebar')
  const [pending, setPending] = useState(false)
  const ordered = useMemo(() => mostTeamworkFirst(agents), [agents])
  const letters = useMemo(() => distinctInitials(ordered.map(titleOfAgent)), [ordered])
  useEffect(() => {
    document.title = 'Millrace'
  }, [])
  const begin = (agent: string, text: string): void => {
    setPending(true)
    beginSession(agent, text)
      .catch((error: unknown) => showError(error instanceof Error ? error.message : String(error)))
      .finally(() => setPending(false))
  }
  return (
    <main className="welcome scroll">
      {!sidebar && (
        <div className="list-button">
          <IconButton icon="sidebar" label="Show the session list ([)" onClick={() => togglePane('sidebar')} />
        </div>
      )}
      <div className="welcome-inner">
        <header className="hero">
          <Logo size={44} />
          <h1>Watch your agents work</h1>
          <p>
            Every run is recorded in one log. Leave and come back, step through it, and see which agent did what, with
            which state and on what evidence.
          </p>
        </header>
        {status === 'unauthorized' ? (
          <TokenForm />
        ) : (
          <>
            <Composer
              running={false}
              pending={pending}
              disabled={chosen === undefined}
              placeholder={chosen === undefined ? 'Loading the agents…' : `Ask ${chosen.title ?? chosen.name}`}
              onSend={(text) => chosen !== undefined && begin(chosen.name, text)}
              onStop={() => undefined}
              autoFocus
            >
              <AgentPicker />
            </Composer>
            {chosen?.model?.offline === true && <OfflineNotice />}
            <section className="agents" aria-label="Agents" aria-busy={!agentsReady}>
              {ordered.map((agent) => (
                <AgentCard
                  key={agent.name}
                  agent={agent}
                  letters={letters.get(titleOfAgent(agent))}
                  chosen={agent === chosen}
                  pending={pending}
                  onBegin={begin}
                />
              ))}
              {!agentsReady && [0, 1].map((i) => <div key={i} className="agent-card loading" />)}
            </section>
            {agentsReady && agents.length === 0 && (
              <p className="sessions-note">
                No agents found. Start the server with <code>--agents DIR</code>, or drop a recorded stream on this
                page.
              </p>
            )}
          </>
        )}
      </div>
    </main>
  )
}

const titleOfAgent = ({ title, name }: AgentInfo): string => title ?? name

/** The agent with the most members first, because it shows the most of this page; else the order of the server. */
function mostTeamworkFirst(agents: readonly AgentInfo[]): readonly AgentInfo[] {
  const members = ({ graph, error }: AgentInfo): number =>
    error === undefined ? graph.nodes.filter(({ kind }) => kind === 'agent').length : 0
  return [...agents].sort((a, b) => members(b) - members(a))
}

function OfflineNotice() {
  return (
    <p className="offline" data-testid="offline-notice">
      <Icon name="state" />
      <span>
        Offline model: replies are scripted, tools and data are real. Set <code>GOOGLE_API_KEY</code>,{' '}
        <code>ANTHROPIC_API_KEY</code> or <code>OPENAI_API_KEY</code> and restart for a live model.
      </span>
    </p>
  )
}
