import { fileURLToPath } from 'node:url'
import { LlmAgent, MCPToolset } from '@google/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: the tools of an MCP server that runs as a process of its own.

const script = scripted('mcp')
const { AUTHORS_EFFECTS: effects = '' } = process.env

export const rootAgent = new LlmAgent({
  name: 'reckoner',
  model: script.model(({ text, results }) => {
    const numbers = text.split(' ').slice(1).map(Number)
    if (results.length + 1 >= numbers.length)
      return `The sums are ${JSON.stringify(results.map(({ response }) => response.content))}.`
    return call('add', { a: numbers[results.length], b: numbers[results.length + 1] })
  }),
  tools: [
    new MCPToolset({
      type: 'StdioConnectionParams',
      serverParams: {
        command: process.execPath,
        args: [fileURLToPath(new URL('server.mjs', import.meta.url))],
        env: { AUTHORS_EFFECTS: effects },
        stderr: 'ignore',
      },
    }),
  ],
  outputKey: 'sums',
})
