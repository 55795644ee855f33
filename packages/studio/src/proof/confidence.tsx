import type { Confidence, Where } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'

const around = 2 * Math.PI * 26

/** How sure the answer says it is. Without a number the dial stays empty. */
export function ConfidenceDial({ confidence }: { readonly confidence: Confidence | undefined }) {
  const value = confidence?.value
  const text = value === undefined ? (confidence?.level ?? 'absent') : `${Math.round(value * 100)}`
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

/** Where a value comes from: a field said so, it was read out of the text, or nobody said it. */
export function OriginPill({ origin }: { readonly origin: Where['origin'] | undefined }) {
  if (origin === 'stated')
    return (
      <Pill tone="ok" title="A structured field of the answer says so">
        stated
      </Pill>
    )
  if (origin === 'parsed')
    return (
      <Pill tone="accent" title="Read out of the words of the answer">
        parsed from text
      </Pill>
    )
  return <Pill title="Nobody said it, so nothing is shown">absent</Pill>
}
