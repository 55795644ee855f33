import { type Calls, callsView, type ModelPrices, type Spent, spentOn } from '@millrace/core'
import { type SessionHandle, useView } from '@millrace/react'
import { useMemo } from 'react'
import { useSettings } from '../app/settings.ts'

/** The prices of this browser; undefined where the person has set none. */
export function usePrices(): ModelPrices | undefined {
  const { currency, models } = useSettings(({ prices }) => prices)
  return useMemo(() => (Object.keys(models).length === 0 ? undefined : { currency, models }), [currency, models])
}

/** What the model calls of a session cost, by the prices of this browser, else as the log has it. */
export function useSpent(session: SessionHandle, at: number | undefined): Spent {
  const calls: Calls = useView(session.log, callsView, { at })
  const prices = usePrices()
  return useMemo(() => spentOn(calls.calls, prices), [calls, prices])
}
