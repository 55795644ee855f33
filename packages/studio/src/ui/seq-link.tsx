import { goTo } from '../session/cursor.ts'
import './seq-link.css'

/** The number of an event: pressing it moves every panel there. */
export function SeqLink({ seq, children }: { readonly seq: number; readonly children?: React.ReactNode }) {
  return (
    <button type="button" className="seq-link number" title={`Go to event ${seq}`} onClick={() => goTo(seq)}>
      {children ?? `#${seq}`}
    </button>
  )
}
