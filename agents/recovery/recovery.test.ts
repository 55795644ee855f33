import { FunctionTool, type LlmAgent } from '@google/adk'
import type { RunEvent } from '@millrace/core'
import { adkAgent } from '@millrace/server'
import { beforeAll, describe, expect, test } from 'vitest'
import { said, testSession } from '../../test/kit/agent-session.ts'
import { testSession as memorySession } from '../../test/kit/run-agent.ts'
import { assessBurn } from './assess-burn.ts'
import { assessNepa, decidePathway } from './assess-nepa.ts'
import { assessSalvage } from './assess-salvage.ts'
import { assessTrails } from './assess-trails.ts'

const fire = 'cedar-creek-2022'
const number = (value: number | undefined): string => (value ?? Number.NaN).toLocaleString('en-US')

describe('recovery, offline', () => {
  let events: readonly RunEvent[]
  beforeAll(async () => {
    events = await testSession('recovery').run('Give me a recovery briefing for Cedar Creek Fire')
  })
  const own = () =>
    events.flatMap((event) =>
      event.kind === 'agent' && event.event.partial !== true && event.event.branch === undefined ? [event.event] : [],
    )
  const calls = (index: number) => (own()[index]?.content?.parts ?? []).flatMap((part) => part.functionCall?.name ?? [])
  const answers = (index: number) =>
    (own()[index]?.content?.parts ?? []).flatMap((part) => part.functionResponse?.name ?? [])

  test('four calls, four responses, two calls, two responses, text, one invocation', () => {
    const team = ['burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor']
    expect(own()).toHaveLength(5)
    expect(calls(0)).toEqual(team)
    expect(answers(1)).toEqual(team)
    expect(calls(2)).toEqual(['cruising_assistant', 'nepa_advisor'])
    expect(answers(3)).toEqual(['cruising_assistant', 'nepa_advisor'])
    expect(new Set(own().map(({ invocationId }) => invocationId)).size).toBe(1)
    expect(own().every(({ author }) => author === 'coordinator')).toBe(true)
  })

  test('the figures of the briefing are the tools’ own', () => {
    const briefing = said(events).at(-1) ?? ''
    const burn = assessBurn(fire)
    const trails = assessTrails(fire)
    const salvage = assessSalvage(fire)
    if ('error' in burn || 'error' in trails || 'error' in salvage) throw new Error('no data')
    expect(burn.breakdown[0]).toMatchObject({ severity: 'HIGH', sectors: 4, percent: 42 })
    expect(briefing).toContain(`${number(burn.total_acres)} acres; ${burn.breakdown[0]?.percent}%`)
    expect(briefing).toContain(`$${number(trails.repair_usd)}`)
    expect(briefing).toContain(`${number(salvage.net_mbf)} MBF, $${number(salvage.value_usd)}`)
    const worst = assessSalvage(
      fire,
      burn.high_severity.map(({ id }) => id),
    )
    if ('error' in worst) throw new Error('no data')
    expect(briefing).toContain(`${number(worst.net_mbf)} MBF, $${number(worst.value_usd)}`)
    // All that is worth salvaging needs an assessment; where the fire was worst alone, it does not.
    expect(assessNepa(salvage.viable_acres).salvage.pathway).toBe('environmental assessment')
    expect(assessNepa(worst.viable_acres).salvage.pathway).toBe('categorical exclusion')
    expect(briefing).toContain(`A salvage of ${salvage.viable_acres} acres needs an environmental assessment`)
    expect(briefing).toContain(`A salvage of ${worst.viable_acres} acres fits a categorical exclusion`)
    expect(briefing).toContain(`at the price of $${number(salvage.value_usd - worst.value_usd)}.`)
    expect(briefing).toContain('**Overall Confidence:** 90%')
    expect(briefing).toContain('(Confidence: 92%)')
    expect(briefing).toContain('(Confidence: 95% for timber, 90% for trails)')
    expect(briefing).not.toMatch(/not stated|No answer|NaN/)
  })

  test('every specialist answers with text and a structured proof layer', () => {
    for (const part of own()[1]?.content?.parts ?? []) {
      const { result, proof_layer: proof } = part.functionResponse?.response ?? {}
      expect(result).toMatch(/\*\*Confidence:\*\*/)
      expect(proof).toMatchObject({
        confidence: expect.any(Number),
        citations: expect.any(Array),
        reasoning_chain: expect.any(Array),
      })
    }
  })

  test('specialists stream under their own names, on their own branches', () => {
    const authors = new Set(
      events.flatMap((event) => (event.kind === 'agent' && event.event.partial ? [event.event.author] : [])),
    )
    expect([...authors]).toEqual(
      expect.arrayContaining(['burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor', 'coordinator']),
    )
  })

  test('all four start before the first of them ends', () => {
    const kinds = events.flatMap((event) =>
      (event.kind === 'node.started' && event.parent !== undefined) || event.kind === 'node.finished'
        ? [event.kind]
        : [],
    )
    expect(kinds.slice(0, 4)).toEqual(['node.started', 'node.started', 'node.started', 'node.started'])
  })

  test('a narrow question goes to one specialist', async () => {
    const narrow = await testSession('recovery').run('Which NEPA pathway fits a salvage of 300 acres?')
    expect(said(narrow).at(-1)).toContain('environmental assessment')
    expect(JSON.stringify(narrow)).not.toContain('"burn_analyst"')
  })

  test('the pathway turns at the limits of the exclusion', () => {
    expect(assessNepa(250, 0.5).salvage.pathway).toBe('categorical exclusion')
    expect(assessNepa(251).salvage.pathway).toBe('environmental assessment')
    expect(assessNepa(100, 0.6).salvage.pathway).toBe('environmental assessment')
  })

  test('an unknown fire is an answer, not a crash', () => {
    expect(assessBurn('nowhere')).toMatchObject({ error: expect.stringContaining('cedar-creek-2022') })
    expect(assessTrails('nowhere')).toHaveProperty('error')
    expect(assessSalvage('nowhere')).toHaveProperty('error')
    expect(decidePathway('nowhere')).toHaveProperty('error')
  })
})

describe('recovery, with tools that take their time', () => {
  /** The coordinator, with a wait before each of its specialists' tools. */
  async function slowed(wait: (tool: string) => Promise<void>) {
    const { rootAgent } = await import('./agent.ts')
    const restore: (() => void)[] = []
    for (const consulted of rootAgent.tools) {
      const specialist: LlmAgent = Reflect.get(consulted, 'agent')
      for (const tool of specialist.tools) {
        if (!(tool instanceof FunctionTool)) throw new Error(`${specialist.name} has a tool of another kind`)
        const { runAsync } = tool
        tool.runAsync = async (request) => {
          await wait(tool.name)
          return runAsync.call(tool, request)
        }
        restore.push(() => {
          tool.runAsync = runAsync
        })
      }
    }
    const agent = adkAgent('recovery', async () => rootAgent, { models: { tokensPerSecond: 0 } })
    return { agent, restore: () => restore.map((one) => one()) }
  }
  const brief = 'Give me a recovery briefing for Cedar Creek Fire'

  test('no tool of the first turn returns before all four have begun', async () => {
    const begun: string[] = []
    let open = (): void => {}
    const all = new Promise<void>((resolve) => {
      open = resolve
    })
    const { agent, restore } = await slowed(async (tool) => {
      if (begun.push(tool) === 4) open()
      await all
    })
    const events = await memorySession(agent).run(brief).finally(restore)
    expect(begun.slice(0, 4)).toEqual(['assess_severity', 'classify_damage', 'assess_salvage', 'decide_pathway'])
    expect(events.at(-1)).toMatchObject({ kind: 'run.finished', outcome: 'done' })
  })

  test('with 100 ms in each, the four take less than two of them', async () => {
    const times: { readonly from: number; readonly to: number }[] = []
    const { agent, restore } = await slowed(async () => {
      const from = performance.now()
      await new Promise((resolve) => setTimeout(resolve, 100))
      times.push({ from, to: performance.now() })
    })
    await memorySession(agent).run(brief).finally(restore)
    const four = times.slice(0, 4)
    expect(four).toHaveLength(4)
    const together = Math.max(...four.map(({ to }) => to)) - Math.min(...four.map(({ from }) => from))
    const one = Math.max(...four.map(({ from, to }) => to - from))
    expect(together).toBeLessThan(2 * one)
  })
})
