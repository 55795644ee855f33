import type { RunEvent } from '@millrace/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { said, testSession } from '../../test/kit/agent-session.ts'
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

  test('the plan follows from the first search, and the report cites every source once', () => {
    const titles = searchLibrary('quantum computing', 5)
      .slice(0, 3)
      .map(({ title }) => title)
    expect(session.state()).toMatchObject({
      research_plan: { topic: 'quantum computing', sections: titles },
      enhanced_findings: expect.any(String),
      report: expect.stringContaining('# Quantum computing'),
    })
    const report = said(events).at(-1) ?? ''
    for (const title of titles) expect(report).toContain(`## ${title}`)
    const urls = [...report.matchAll(/\]\((https?:[^)]+)\)/g)].map(([, url]) => url)
    expect(urls.length).toBeGreaterThan(titles.length)
    expect(new Set(urls).size).toBe(urls.length)
    const paragraphs = report.split('\n').filter((line) => /\[\d+\]$/.test(line))
    expect(new Set(paragraphs).size).toBe(paragraphs.length)
    expect(paragraphs.length).toBe(urls.length)
  })

  test('each statement is one that a search returned', () => {
    const found = events.flatMap((event) =>
      event.kind === 'agent'
        ? (event.event.content?.parts ?? []).flatMap(({ functionResponse }) =>
            functionResponse?.name === 'web_search' ? [JSON.stringify(functionResponse.response)] : [],
          )
        : [],
    )
    const report = said(events).at(-1) ?? ''
    for (const [, statement = ''] of report.matchAll(/^(.*) \[\d+\]$/gm)) {
      expect(found.some((response) => response.includes(statement))).toBe(true)
    }
  })

  test('without search results, nothing is made up', async () => {
    const nothing = await testSession('research').run('Research xyzzyqwert')
    expect(said(nothing).at(-1)).toMatch(/^I searched for \*\*xyzzyqwert\*\* and found nothing/)
    expect(JSON.stringify(nothing)).not.toContain('report_composer')
  })

  test('the next message goes straight to the planner', async () => {
    const next = await session.run('Find latest AI research papers')
    expect(next.find((event) => event.kind === 'agent')).toMatchObject({ event: { author: 'plan_generator' } })
    expect(JSON.stringify(next)).toContain('web_search')
  })
})
