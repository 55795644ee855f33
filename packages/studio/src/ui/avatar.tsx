import { agentColour, agentTint, initials } from './agent-colour.ts'

/** The initials of an agent on its colour. Decorative: the name is shown beside it. */
export function Avatar({
  agent,
  letters = initials(agent),
  small = false,
}: {
  readonly agent: string
  readonly letters?: string | undefined
  readonly small?: boolean
}) {
  return (
    <span
      className={small ? 'avatar small' : 'avatar'}
      style={{ color: agentColour(agent), background: agentTint(agent) }}
      aria-hidden="true"
    >
      {letters}
    </span>
  )
}
