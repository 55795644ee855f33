// A tiny MCP server on stdin and stdout, as the SDK's documentation writes one. With `--stubborn` it does not end when
// its input does, and ignores SIGTERM.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'tiny', version: '1.0.0' })
server.registerTool(
  'add',
  { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() } },
  async ({ a, b }) => ({ content: [{ type: 'text', text: `${a + b} from ${process.pid}` }] }),
)
server.registerTool('hang', { description: 'Never answers', inputSchema: {} }, () => new Promise(() => {}))
if (process.argv.includes('--stubborn')) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
}
await server.connect(new StdioServerTransport())
