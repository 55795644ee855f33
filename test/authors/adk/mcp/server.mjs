// An MCP server on stdin and stdout, as the SDK's documentation writes one.
import { appendFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const { AUTHORS_EFFECTS: effects } = process.env
const server = new McpServer({ name: 'sums', version: '1.0.0' })
server.registerTool(
  'add',
  { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() } },
  async ({ a, b }) => {
    if (effects) appendFileSync(effects, `${JSON.stringify({ pattern: 'mcp', what: `add ${a} ${b}`, key: '' })}\n`)
    return { content: [{ type: 'text', text: String(a + b) }] }
  },
)
await server.connect(new StdioServerTransport())
