// The runtime of CopilotKit in front of Millrace: `npm start`, then open the page with `npm run dev`.
import { createServer } from 'node:http'
import { HttpAgent } from '@ag-ui/client'
import { CopilotRuntime } from '@copilotkit/runtime/v2'
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node'
import { MillraceRunner } from './millrace-runner.mjs'

const millrace = process.env.MILLRACE ?? 'http://127.0.0.1:8000'
const { agents } = await (await fetch(`${millrace}/agents`)).json()

const runtime = new CopilotRuntime({
  agents: Object.fromEntries(agents.map(({ name }) => [name, new HttpAgent({ url: `${millrace}/ag-ui/${name}` })])),
  runner: new MillraceRunner(millrace),
})
const server = createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit' }))
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => {
  console.log(`CopilotKit's runtime is listening on http://127.0.0.1:${server.address().port}`)
})
