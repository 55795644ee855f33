import type { Reasoning } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'
import { SeqLink } from '../ui/seq-link.tsx'

/** How the answer came about, step by step, each with its place in the log. */
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
                ? 'As its author states it'
                : 'The calls and answers that led to it, as recorded'
            }
          >
            {reasoning.origin === 'stated' ? 'stated' : 'from the record'}
          </Pill>
        )}
      </h3>
      {steps.length === 0 && <p className="nothing">Absent: no steps are stated and no call led to it.</p>}
      {reasoning !== undefined && reasoning.omitted > 0 && (
        <p className="nothing">{reasoning.omitted} earlier steps are not listed.</p>
      )}
      <ol className="chain" start={(reasoning?.omitted ?? 0) + 1}>
        {steps.map(({ text, asked, answered, failed }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has no name but its place
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
