import { goTo } from '../session/cursor.ts'
import { eventNumber } from './event-number.ts'
import './seq-link.css'

/** The seq of an event as a button that moves the cursor there. */
export function SeqLink({ seq, children }: { readonly seq: number; readonly children?: React.ReactNode }) {
  return (
    <button
      type="button"
      className="seq-link number"
      title={`Go to event ${eventNumber(seq)}`}
      onClick={() => goTo(seq)}
    >
      {children ?? `#${seq}`}
    </button>
  )
}
