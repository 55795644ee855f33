import { useSession, useView } from '@millrace/react'
import { navigate } from '../app/route.ts'
import { runsView } from '../session/runs.ts'
import { titleOf, useSessionInfo } from '../session/sessions.ts'
import { useDateText } from '../ui/time.tsx'
import type { ComparedSide } from './sides.ts'

/** The name of a side, which opens it, and when it began. */
export function SideName({
  side: { session, run },
  at,
}: {
  readonly side: ComparedSide
  readonly at: number | undefined
}) {
  const info = useSessionInfo(session)
  const { log } = useSession(session)
  const runs = useView(log, runsView)
  const span = run === undefined ? undefined : runs.toArray().find((each) => each.run === run)
  const title = info === undefined ? session : titleOf(info)
  const name = span === undefined ? title : `Run ${span.number}: ${span.text === '' ? title : span.text}`
  const open = (): void => navigate({ session, compare: undefined, at: span?.endSeq })
  return (
    <>
      <button type="button" className="link" title={name} onClick={open}>
        {name}
      </button>
      {at !== undefined && <CompareDate at={at} />}
    </>
  )
}

function CompareDate({ at }: { readonly at: number }) {
  const date = useDateText(at)
  return (
    <span className="faint compare-date" title={date}>
      {date}
    </span>
  )
}
