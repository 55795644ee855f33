import type { Confidence, Where } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'

const around = 2 * Math.PI * 26

/** The stated confidence of an answer. Where it is only a word, the dial stays empty. */
export function ConfidenceDial({ confidence: { value, level = '' } }: { readonly confidence: Confidence }) {
  const text = value === undefined ? level : `${Math.round(value * 100)}`
  return (
    <div className={`dial ${value === undefined ? 'without' : ''}`}>
      <svg viewBox="0 0 60 60" width="84" height="84" aria-hidden="true">
        <circle cx="30" cy="30" r="26" className="dial-track" />
        {value !== undefined && (
          <circle
            cx="30"
            cy="30"
            r="26"
            className="dial-value"
            strokeDasharray={`${around * value} ${around}`}
            transform="rotate(-90 30 30)"
          />
        )}
      </svg>
      <span className="number">
        {text}
        {value !== undefined && <small>%</small>}
      </span>
    </div>
  )
}

/** The origin of a value: a structured field, or the text of the answer. */
export function OriginPill({ origin }: { readonly origin: Where['origin'] }) {
  return origin === 'stated' ? (
    <Pill tone="ok" title="From a structured field of the answer">
      given by the agent
    </Pill>
  ) : (
    <Pill tone="accent" title="Found in the text of the answer">
      read from the text
    </Pill>
  )
}
