import { afterEach, describe, expect, test, vi } from 'vitest'
import { exampleAgents } from '../../../../../test/kit/built-packages.ts'
import { outline, said, testSession } from '../../../../../test/kit/run-agent.ts'
import { adkAgent } from '../adk/adk-agent.ts'
import { discoverAgents } from '../catalog.ts'
import type { ModelSettings } from './settings.ts'

afterEach(() => vi.useRealTimers())

const greeter = (models: ModelSettings) =>
  adkAgent(
    'root',
    async () => {
      const [{ LlmAgent }, { model, say }] = await Promise.all([import('@google/adk'), import('../../adk.ts')])
      return new LlmAgent({ name: 'root', model: model({ offline: () => say('one two three four') }) })
    },
    { models },
  )

/** Runs on a clock of the test's own; gives back how long it took on that clock. */
async function paced(run: () => Promise<unknown>): Promise<number> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const begun = performance.now()
  let over = false
  const running = run().finally(() => {
    over = true
  })
  while (!over) {
    // Only a wait that is set moves the clock; what happens between two is left to happen.
    await new Promise((resolve) => setImmediate(resolve))
    if (vi.getTimerCount() > 0) await vi.advanceTimersToNextTimerAsync()
  }
  await running
  return performance.now() - begun
}

describe('the offline model', () => {
  test('answers the same every time, word by word', async () => {
    const agent = greeter({ tokensPerSecond: 0 })
    const [first, second] = [await testSession(agent).run('go'), await testSession(agent).run('go')]
    expect(outline(first)).toEqual(outline(second))
    expect(said(first).filter(({ event }) => event.partial === true)).toHaveLength(4)
  })

  test('streams at the configured pace, in words per second', async () => {
    const slow = greeter({ tokensPerSecond: 2 })
    await slow.describe()
    expect(await paced(() => testSession(slow).run('go'))).toBe(2000)
  })

  test('“count slowly to 200” takes about ten seconds, whatever the pace; none when the pace is 0', async () => {
    const agents = (models: ModelSettings) => discoverAgents(exampleAgents, { models }).agents.get('assistant')
    for (const [models, seconds] of [
      [{}, 10],
      [{ tokensPerSecond: 0 }, 0],
    ] as const) {
      const assistant = agents(models)
      if (assistant === undefined) throw new Error('no assistant')
      await assistant.describe()
      const took = await paced(() => testSession(assistant).run('Count slowly to 200'))
      vi.useRealTimers()
      expect(Math.round(took / 1000)).toBe(seconds)
    }
  })

  test('stops between two words when the run is aborted', async () => {
    const stop = new AbortController()
    const agent = greeter({ tokensPerSecond: 0.001 })
    await agent.describe()
    const running = testSession(agent).run('go', { signal: stop.signal })
    stop.abort()
    expect(said(await running)).toEqual([])
  })
})
