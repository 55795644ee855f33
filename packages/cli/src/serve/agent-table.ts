import type { AgentDescription } from '@millrace/server'
import { type Colours, plain } from '../terminal.ts'

/** The agents as a table: name, engine, model; under one that does not run, the file, the line and the reason. */
export function agentTable(agents: readonly AgentDescription[], colours: Colours = plain): string {
  if (agents.length === 0) return 'No agents. Write <agents folder>/<name>/agent.ts, or see --agents.'
  const rows = agents.map((agent) => [agent.name, agent.engineLabel ?? agent.engine, modelOf(agent)])
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = agents.flatMap((agent, i) => {
    const [name = '', engine = '', model = ''] = rows[i] ?? []
    const bad = agent.error !== undefined
    const cells = `${name.padEnd(widths[0] ?? 0)}  ${(bad ? colours.bad : colours.good)(engine.padEnd(widths[1] ?? 0))}  ${colours.faint(model)}`
    const reason = agent.error ?? agent.editError
    return reason === undefined ? [cells.trimEnd()] : [cells.trimEnd(), colours.bad(`  ${firstLine(reason)}`)]
  })
  return lines.map((line) => `  ${line}`).join('\n')
}

/** The first line of a message. A parser's message goes on with an excerpt of the file. */
function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

function modelOf({ model, error }: AgentDescription): string {
  if (model !== undefined) return model.offline ? 'offline model' : model.name
  return error === undefined ? '' : '–'
}
