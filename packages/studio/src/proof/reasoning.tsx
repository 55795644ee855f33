import type { Reasoning } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'
import { SeqLink } from '../ui/seq-link.tsx'

/** The reasoning that the agent gives, or else the calls that it made before the answer, with links to the events. */
export function ReasoningChain({ reasoning }: { readonly reasoning: Reasoning | undefined }) {
  if (reasoning === undefined) return null
  const { steps, omitted, origin } = reasoning
  return (
    <section className="panel-section">
      <h3>
        {origin === 'stated' ? 'Reasoning' : 'Calls before this answer'} <Pill>{steps.length + omitted}</Pill>
        <span className="spacer" />
        {origin === 'stated' && (
          <Pill tone="ok" title="As the agent gives it">
            given by the agent
          </Pill>
        )}
      </h3>
      {omitted > 0 && <p className="nothing">{omitted} earlier steps are not listed.</p>}
      <ol className="chain" start={omitted + 1}>
        {steps.map(({ text, asked, answered, failed }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has no id except its position
          <li key={i} className={failed === true ? 'failed' : ''} data-testid="proof-step">
            <span className="chain-number number">{omitted + i + 1}</span>
            <span className="chain-text">{text}</span>
            {failed === true && <Pill tone="bad">failed</Pill>}
            {asked !== undefined && <SeqLink seq={asked} />}
            {answered !== undefined && (
              <>
                <span className="faint">→</span>
                <SeqLink seq={answered} />
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
