import type { AgentDescription } from '@millrace/server'
import { expect, test } from 'vitest'
import { coloursFor } from '../terminal.ts'
import { agentTable } from './agent-table.ts'

const agent = (name: string, engine: string, rest: Partial<AgentDescription> = {}): AgentDescription => ({
  name,
  engine,
  description: '',
  graph: { nodes: [], edges: [] },
  examples: [],
  resumable: false,
  ...rest,
})
const agents = [
  agent('weather', 'adk', { engineLabel: 'ADK', model: { name: 'gemini-2.5-flash', offline: false } }),
  agent('hi', 'langgraph', { engineLabel: 'LangGraph', model: { name: 'offline', offline: true } }),
  agent('bad', 'broken', { error: 'bad/agent.ts:3: no database\n  an excerpt' }),
  agent('edited', 'adk', { engineLabel: 'ADK', editError: 'edited/agent.ts:1: no such module' }),
]

test('columns are aligned, and a reason is one line under its agent', () => {
  expect(agentTable(agents).split('\n')).toEqual([
    '  weather  ADK        gemini-2.5-flash',
    '  hi       LangGraph  offline model',
    '  bad      broken     –',
    '    bad/agent.ts:3: no database',
    '  edited   ADK',
    '    edited/agent.ts:1: no such module',
  ])
})

test('a terminal has colours that leave the columns as they are; no agents is a sentence', () => {
  const painted = agentTable(agents, coloursFor(true))
  expect(painted).toContain('\u001b[31m')
  const codes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')
  const trimmed = painted.replace(codes, '').split('\n')
  expect(trimmed.map((line) => line.trimEnd()).join('\n')).toBe(agentTable(agents, coloursFor(false)))
  expect(agentTable([])).toMatch(/^No agents\./)
})
