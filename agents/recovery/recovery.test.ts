import type { RunEvent } from '@millrace/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { said, testSession } from '../../test/agent-session.ts'
import { assessBurn } from './assess-burn.ts'
import { assessNepa } from './assess-nepa.ts'
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

  test('seed 004: four calls, four responses, two calls, two responses, text, one invocation', () => {
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
  })
})
