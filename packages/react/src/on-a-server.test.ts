import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** What a page has. Node has none of these, so that a trap can stand in each one's place. */
const names = ['window', 'document', 'localStorage', 'requestAnimationFrame', 'EventSource', 'location']
let touched: string[] = []
beforeEach(() => {
  touched = []
  vi.resetModules()
  for (const name of names) {
    vi.stubGlobal(name, undefined)
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        // React asks for `window` to know where it is; whoever else asks is ours.
        if (/packages\/(react|core)\/src\/(?!on-a-server)/.test(new Error().stack ?? '')) touched.push(name)
        return undefined
      },
    })
  }
})
afterEach(() => vi.unstubAllGlobals())

test('importing it, and making a client and a store, touches no page', async () => {
  const { createChatStore, createClient } = await import('./index.ts')
  createClient().session('s')
  createChatStore().getState().getDerivedMessages('s')
  expect(touched).toEqual([])
})

test('the trap works: the next animation frame is asked for where it is needed', async () => {
  const { nextFrame } = await import('./page-host.ts')
  await new Promise<void>((resolve) => nextFrame(resolve))
  expect(touched).toEqual(['requestAnimationFrame'])
})

test('a frame that never comes, as in a hidden tab, is not waited for; one that comes is told once', async () => {
  const frames: (() => void)[] = []
  Object.defineProperty(globalThis, 'requestAnimationFrame', {
    configurable: true,
    value: (callback: () => void) => frames.push(callback),
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { nextFrame } = await import('./page-host.ts')
  let told = 0
  nextFrame(() => told++)
  vi.advanceTimersByTime(1000)
  for (const callback of frames.splice(0)) callback()
  expect(told).toBe(1)
  nextFrame(() => told++)
  for (const callback of frames.splice(0)) callback()
  vi.advanceTimersByTime(1000)
  expect(told).toBe(2)
  vi.useRealTimers()
})
