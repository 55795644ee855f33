import { adk } from '@millrace/core'
import { useSSE } from '@millrace/react'
import { useEffect, useState } from 'react'
import { rendered, report } from './scene.ts'

/** A component that renders for reasons of its own, with new options each time, and connects in an effect. */
export function ReconnectScene() {
  rendered('page')
  const [tick, setTick] = useState(0)
  const [closures, setClosures] = useState<readonly number[]>([])
  const { connect, close, status, error } = useSSE({
    dialect: adk,
    canonical: true,
    headers: { 'x-tick': String(tick) },
    onMessage: () => setClosures((all) => [...all, tick]),
  })
  useEffect(() => connect('/quiet'), [connect])
  const [again, setAgain] = useState(0)
  const render = (): void => setTick((n) => n + 1)
  const reconnect = (): void => {
    render()
    setAgain((n) => n + 1)
  }
  Object.assign(report.acts, { render, reconnect, close })
  Object.assign(report.values, { tick, closures, status, error: error?.message })
  return (
    <p>
      {status}
      <Below again={again} connect={connect} />
    </p>
  )
}

/** Its effects run before those of the component above. */
function Below({ again, connect }: { readonly again: number; readonly connect: (url: string) => void }) {
  useEffect(() => {
    if (again > 0) connect('/quiet')
  }, [again, connect])
  return null
}
