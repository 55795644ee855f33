import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { defined, type EventLog, webHost } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import type { Agent } from './agent/agent.ts'
import { type AgentCatalog, discoverAgents } from './agent/catalog.ts'
import type { MillraceConfig } from './agent/config.ts'
import type { IsolateOptions } from './agent/isolate/agent-processes.ts'
import { modelSettings } from './agent/model/settings.ts'
import { webFetch } from './embed-fetch.ts'
import { needsProof } from './http/doors/identity.ts'
import { createMillrace, type Millrace, type MillraceOptions } from './millrace.ts'
import { sqliteLog } from './store/sqlite/log.ts'

/** How often the runs of dead processes are recovered, in ms. */
const recoverEvery = 10_000

type Chosen = 'log' | 'agents' | 'now' | 'newId' | 'owner' | 'version'

export interface EmbedOptions extends Omit<MillraceOptions, Chosen>, Partial<Pick<MillraceOptions, 'log' | 'owner'>> {
  /** A folder of agents, `<folder>/<name>/agent.ts`, or the agents themselves. Default: `./agents`. */
  readonly agents?: string | readonly Agent[]
  /** Agents on other servers, as in `millrace.config.ts`. */
  readonly config?: MillraceConfig
  /** Variables with the keys of models, such as `process.env`. Default: none, so that agents use the offline model. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The folder of the log. Default: `.millrace`. With `log`, that one is used, and stays open at the end. */
  readonly data?: string
  /** Runs each agent of the folder in a process of its own. Default: in this process. */
  readonly isolate?: IsolateOptions
}

/** Millrace inside a program with a server of its own. */
export interface EmbeddedMillrace extends Millrace {
  readonly log: EventLog
  /** For `node:http` and for Express: answers one request, streams included. */
  readonly handler: (request: IncomingMessage & { originalUrl?: string }, response: ServerResponse) => void
  /** For route handlers that take a web `Request` (Next, Hono, Remix). A stream ends when its reader leaves. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Fastify: `host.register(app.plugin)`. It answers the paths below `basePath`. */
  readonly plugin: FastifyPluginAsync
  /** Refuses new runs, gives active ones `grace` ms (5000), and closes everything that was opened here. */
  close(grace?: number): Promise<void>
}

/**
 * A Millrace with defaults, to be mounted in another server. It listens nowhere by itself; `app.listen` does where it is
 * the only server. Requests keep their whole path: `basePath` is the prefix under which it is mounted.
 */
export async function embedMillrace(options: EmbedOptions = {}): Promise<EmbeddedMillrace> {
  const { agents = './agents', config, env = {}, data = '.millrace', isolate, ...rest } = options
  const folder = resolve(data)
  const log = options.log ?? (await sqliteLog({ folder, now: Date.now, owned: needsProof(options.access ?? {}) }))
  const catalog = catalogOf(agents, defined({ config, isolate }), env)
  const own = await createMillrace({
    // SQLite admits one process per folder, so machine and folder name its only writer.
    owner: `${hostname()}:${folder}`,
    ...defined({ prices: config?.prices }),
    ...rest,
    recordPrompts: (agent) => options.recordPrompts?.(agent) ?? config?.recordPrompts?.[agent],
    log,
    agents: catalog,
    now: Date.now,
    newId: randomUUID,
    version: ownVersion(),
  })
  await own.app.ready()
  const recover = (): void =>
    void own.engine.recover().catch((error: unknown) => own.app.log.error({ err: error }, 'recovery failed'))
  recover()
  const timer = setInterval(recover, recoverEvery)
  timer.unref()
  const handler: EmbeddedMillrace['handler'] = (request, response) => {
    // Express cuts the path of the mount off `url`.
    if (request.originalUrl !== undefined) request.url = request.originalUrl
    own.app.routing(request, response)
  }
  const web = webFetch(handler)
  return {
    ...own,
    log,
    handler,
    fetch: web.fetch,
    plugin: pluginOf(handler, options.basePath ?? ''),
    async close(grace = 5000) {
      clearInterval(timer)
      await own.close(grace)
      await web.close()
      await catalog.close?.()
      if (options.log === undefined) await log.close()
    },
  }
}

function catalogOf(
  agents: string | readonly Agent[],
  options: Pick<EmbedOptions, 'config' | 'isolate'>,
  env: NonNullable<EmbedOptions['env']>,
): Pick<AgentCatalog, 'agents'> & Partial<AgentCatalog> {
  if (typeof agents !== 'string') return { agents: new Map(agents.map((agent) => [agent.name, agent])) }
  return discoverAgents(agents, { ...options, models: modelSettings(env), host: webHost(globalThis) })
}

function pluginOf(handler: EmbeddedMillrace['handler'], basePath: string): FastifyPluginAsync {
  return async (host) => {
    // The body is left unread: Millrace reads it with its own limits.
    host.removeAllContentTypeParsers()
    host.addContentTypeParser('*', (_request, body, done) => done(null, body))
    host.all(`${basePath}/*`, (request, reply) => {
      reply.hijack()
      handler(request.raw, reply.raw)
    })
  }
}

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
