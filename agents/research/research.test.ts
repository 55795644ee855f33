import type { RunEvent } from '@millrace/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { said, testSession } from '../../test/agent-session.ts'
import { searchLibrary } from '../corpus/search.ts'

describe('research, offline', () => {
  const session = testSession('research')
  let events: readonly RunEvent[]
  beforeAll(async () => {
    events = await session.run('Research quantum computing')
  })
  const authors = () => new Set(events.flatMap((event) => (event.kind === 'agent' ? [event.event.author] : [])))

  test('every agent has its say, after a real transfer', () => {
    expect([...authors()]).toEqual(
      expect.arrayContaining([
        'dispatcher',
        'plan_generator',
        'section_researcher',
        'enhanced_search_executor',
        'report_composer',
      ]),
    )
    expect(
      events.some((event) => event.kind === 'agent' && event.event.actions?.transferToAgent === 'plan_generator'),
    ).toBe(true)
    expect(JSON.stringify(events)).toContain('"thought":true')
  })

  test('three sections are researched side by side', () => {
    const nodes = events.flatMap((event) =>
      event.kind === 'node.started' && event.agent === 'section_researcher' ? [event.node] : [],
    )
    expect(new Set(nodes).size).toBe(3)
    const first = events.findIndex((event) => event.kind === 'node.finished' && nodes.includes(event.node))
    const last = events.findLastIndex((event) => event.kind === 'node.started' && nodes.includes(event.node))
    expect(last).toBeLessThan(first)
  })

  test('the report rests on what the searches found, and the state has flowed', () => {
    const report = said(events).at(-1) ?? ''
    const [best] = searchLibrary('quantum computing: how it works', 3)
    expect(report).toContain(best?.url)
    expect(session.state()).toMatchObject({
      research_plan: { topic: 'quantum computing' },
      report: expect.stringContaining('## Sources'),
    })
  })

  test('the next message goes straight to the planner', async () => {
    const next = await session.run('Find latest AI research papers')
    expect(next.find((event) => event.kind === 'agent')).toMatchObject({ event: { author: 'plan_generator' } })
    expect(JSON.stringify(next)).toContain('web_search')
  })

  test('the library finds by words, prefixes and with a typo', () => {
    expect(searchLibrary('quantm error corection')[0]?.title).toBe('Quantum error correction')
    expect(searchLibrary('xyzzy')).toEqual([])
  })
})
