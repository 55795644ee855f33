import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { MillraceProvider } from './provider.tsx'
import { type Client, createClient } from './session-client.ts'
import { type RunControls, useRun } from './use-run.ts'

let controls: RunControls | undefined
function Probe(): null {
  controls = useRun('s', 'a')
  return null
}

test('a failed request causes no unhandled rejection, but an awaited one rejects', async () => {
  const down = async (): Promise<never> => {
    throw new Error('down')
  }
  const client: Client = { ...createClient(), start: down, resume: down, cancel: down }
  renderToString(
    <MillraceProvider client={client}>
      <Probe />
    </MillraceProvider>,
  )
  const unhandled: unknown[] = []
  const note = (reason: unknown): unknown => unhandled.push(reason)
  process.on('unhandledRejection', note)
  void controls?.send('hi')
  void controls?.resume([])
  void controls?.stop()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  await expect(controls?.send('hi')).rejects.toThrow('down')
})
