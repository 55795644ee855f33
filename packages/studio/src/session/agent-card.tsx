import { Avatar } from '../ui/avatar.tsx'
import { Pill } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { chooseAgent } from './agent-picker.tsx'
import type { AgentInfo } from './sessions.ts'

interface AgentCardProps {
  readonly agent: AgentInfo
  /** Its initials, different from those of the other agents. */
  readonly letters: string | undefined
  readonly chosen: boolean
  readonly pending: boolean
  readonly onBegin: (agent: string, text: string) => void
}

/** An agent with its engine, its model and example messages. Clicking an example starts a session. */
export function AgentCard({ agent, letters, chosen, pending, onBegin }: AgentCardProps) {
  const { name, title, description, engine, engineLabel, model, examples, graph, error, editError } = agent
  const members = graph.nodes.filter(({ kind }) => kind === 'agent').length
  return (
    <article
      className={`agent-card ${chosen ? 'chosen' : ''} ${error === undefined ? '' : 'broken'}`}
      data-testid={`agent-${name}`}
    >
      <button
        type="button"
        className="agent-head"
        disabled={error !== undefined}
        aria-pressed={chosen}
        onClick={() => chooseAgent(name)}
      >
        <Avatar agent={name} letters={letters} />
        <span className="agent-title">{title ?? name}</span>
        <span className="agent-badges">
          {error === undefined && <Pill>{engineLabel ?? engine}</Pill>}
          {members > 1 && <Pill>{members} agents</Pill>}
          {model !== undefined && (
            <Pill tone={model.offline ? 'soft' : 'accent'}>{model.offline ? 'offline' : model.name}</Pill>
          )}
        </span>
      </button>
      {error === undefined ? (
        <p>{description}</p>
      ) : (
        <p className="bad-text">
          <Icon name="problems" /> {engine === 'broken' ? 'Could not be loaded: ' : ''}
          {error}
        </p>
      )}
      {editError !== undefined && (
        <p className="bad-text">
          <Icon name="problems" /> The last edit does not load, the version before it runs: {editError}
        </p>
      )}
      <ul>
        {examples.slice(0, 4).map((example) => (
          <li key={example}>
            <button type="button" disabled={pending} onClick={() => onBegin(name, example)}>
              <span className="ellipsis" title={example}>
                {example}
              </span>
              <Icon name="right" size={12} />
            </button>
          </li>
        ))}
      </ul>
    </article>
  )
}
