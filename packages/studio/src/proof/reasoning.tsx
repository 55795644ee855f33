import type { Reasoning } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'
import { SeqLink } from '../ui/seq-link.tsx'

/** The reasoning behind the answer, step by step, with links to the events. */
export function ReasoningChain({ reasoning }: { readonly reasoning: Reasoning | undefined }) {
  const steps = reasoning?.steps ?? []
  return (
    <section className="panel-section">
      <h3>
        Reasoning <Pill>{steps.length + (reasoning?.omitted ?? 0)}</Pill>
        <span className="spacer" />
        {reasoning !== undefined && (
          <Pill
            tone={reasoning.origin === 'stated' ? 'ok' : 'soft'}
            title={
              reasoning.origin === 'stated'
                ? 'As the agent gives it'
                : 'The recorded calls and results that led to the answer'
            }
          >
            {reasoning.origin === 'stated' ? 'given by the agent' : 'from the log'}
          </Pill>
        )}
      </h3>
      {steps.length === 0 && <p className="nothing">Not given: there are no reasoning steps and no calls.</p>}
      {reasoning !== undefined && reasoning.omitted > 0 && (
        <p className="nothing">{reasoning.omitted} earlier steps are not listed.</p>
      )}
      <ol className="chain" start={(reasoning?.omitted ?? 0) + 1}>
        {steps.map(({ text, asked, answered, failed }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has no id except its position
          <li key={i} className={failed === true ? 'failed' : ''} data-testid="proof-step">
            <span className="chain-number number">{(reasoning?.omitted ?? 0) + i + 1}</span>
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
