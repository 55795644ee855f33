import { z } from 'zod'

/** An agent that runs on another server, as `millrace.config` names it. Millrace is its durable front. */
export const remoteEntry = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  dialect: z.enum(['ag-ui', 'adk']),
  headers: z.record(z.string(), z.string()).optional(),
  /** The app's name on an ADK server; by default the agent's name here. */
  app: z.string().optional(),
  /** Milliseconds of silence after which the server counts as dead. Default: two minutes, since few send a heartbeat. */
  timeout: z.int().min(1).optional(),
  /** How the page shows it; these cannot be asked of the other server. */
  title: z.string().optional(),
  description: z.string().optional(),
  examples: z.array(z.string()).optional(),
})
export type RemoteEntry = z.infer<typeof remoteEntry>
