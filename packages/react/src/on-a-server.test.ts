import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Globals of a page. Node has none of them, so each can be replaced by a getter that records its use. */
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
        // React itself reads `window` to detect its environment, so only reads from our sources count.
        if (/@millrace\/(react|core)\/(dist|src)\//.test(new Error().stack ?? '')) touched.push(name)
        return undefined
      },
    })
  }
})
afterEach(() => vi.unstubAllGlobals())

test('importing the package and creating a client and a store reads no global of a page', async () => {
  const { createChatStore, createClient } = await import('./index.ts')
  createClient().session('s')
  createChatStore().getState().getDerivedMessages('s')
  expect(touched).toEqual([])
})

test('the getters work: requestAnimationFrame is read when it is needed', async () => {
  const { nextFrame } = await import('./page-host.ts')
  await new Promise<void>((resolve) => nextFrame(resolve))
  expect(touched).toEqual(['requestAnimationFrame'])
})

test('nextFrame does not wait for a frame that never comes, as in a hidden tab, and calls back only once', async () => {
  const frames: (() => void)[] = []
  Object.defineProperty(globalThis, 'requestAnimationFrame', {
    configurable: true,
    value: (callback: () => void) => frames.push(callback),
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { nextFrame } = await import('./page-host.ts')
  let calls = 0
  nextFrame(() => calls++)
  vi.advanceTimersByTime(1000)
  for (const callback of frames.splice(0)) callback()
  expect(calls).toBe(1)
  nextFrame(() => calls++)
  for (const callback of frames.splice(0)) callback()
  vi.advanceTimersByTime(1000)
  expect(calls).toBe(2)
  vi.useRealTimers()
})
