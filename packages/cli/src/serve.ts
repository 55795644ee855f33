import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type EventLog, MillraceError, webHost } from '@millrace/core'
import {
  createMillrace,
  discoverAgents,
  loadConfig,
  type Millrace,
  modelSettings,
  remoteAgent,
  sqliteLog,
} from '@millrace/server'
import { readSettings, type Settings } from './settings.ts'
import { version } from './version.ts'

const page = fileURLToPath(new URL('../page/', import.meta.url))
/** The examples: built beside us in the workspace, and later shipped with the package. */
const examples = fileURLToPath(new URL('../../../agents/dist/', import.meta.url))

/** How long runs may go on after Ctrl-C, and how often the runs of dead processes are looked for. */
const grace = 5_000
const recoverEvery = 10_000

/** Serves until a signal; resolves with the exit code. */
export async function serve(args: readonly string[]): Promise<number> {
  const settings = readSettings(args, process.env)
  if ('say' in settings) {
    if (settings.code === 0) console.log(settings.say)
    else console.error(settings.say)
    return settings.code
  }
  let log: EventLog | undefined
  let millrace: Millrace | undefined
  try {
    log = await sqliteLog({ folder: settings.dataDir, now: Date.now })
    millrace = await compose(settings, log)
    const address = await millrace.app.listen({ host: settings.host, port: settings.port })
    console.log(`Millrace ${version} is listening on ${address}`)
  } catch (error) {
    console.error(`millrace: ${reasonOf(error, settings)}`)
    await log?.close()
    return 1
  }
  return stopped(millrace, log)
}

async function compose(settings: Settings, log: EventLog): Promise<Millrace> {
  const folder = settings.agents ?? (existsSync(examples) ? examples : undefined)
  const host = webHost(globalThis)
  const agents = discoverAgents(folder, {
    models: modelSettings(process.env),
    config: await loadConfig(process.cwd()),
    remote: (name, entry) => remoteAgent(name, entry, host),
  })
  const telemetry = await telemetryOf(process.env)
  const millrace = await createMillrace({
    log,
    ...(telemetry === undefined ? {} : { tracing: telemetry }),
    agents,
    now: Date.now,
    newId: randomUUID,
    // The database admits one process, so the machine and the folder name its only writer: a restart frees its runs at once.
    owner: `${hostname()}:${settings.dataDir}`,
    version,
    fallback: agents.agents.has('assistant') ? 'assistant' : (agents.agents.keys().next().value ?? ''),
    access: {
      hosts: settings.hostNames,
      origins: settings.origins,
      ...(settings.tokens === undefined ? {} : { tokens: settings.tokens }),
    },
    basePath: settings.basePath,
    logger: { level: settings.logLevel },
    ...(existsSync(page) ? { page } : {}),
  })
  millrace.app.addHook('onClose', () => telemetry?.close())
  // Agents load after the port answers: importing ADK takes seconds, and the first visitor need not wait for it.
  millrace.app.addHook('onListen', async () => {
    setImmediate(() => void agents.warm())
  })
  return millrace
}

/** Loaded only when traces are wanted: the exporter would cost every start a fifth of a second. */
async function telemetryOf(env: NodeJS.ProcessEnv) {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT ?? ''
  return endpoint === '' ? undefined : (await import('./telemetry.ts')).openTelemetry(env, version)
}

/** Runs until Ctrl-C or SIGTERM, then stops in order: runs, streams, HTTP, log. A second signal does not wait. */
async function stopped(millrace: Millrace, log: EventLog): Promise<number> {
  const recover = (): void =>
    void millrace.engine.recover().catch((error) => millrace.app.log.error({ err: error }, 'recovery failed'))
  recover()
  const timer = setInterval(recover, recoverEvery)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  clearInterval(timer)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  await millrace.close(grace)
  await log.close()
  return 0
}

/** What to tell a person: our own errors and the usual ones of listening are sentences already. */
function reasonOf(error: unknown, { host, port }: Settings): string {
  const { code, message } = error as { code?: string; message?: string }
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken; choose another with --port`
  if (code === 'EACCES') return `port ${port} needs more rights than this user has; choose one above 1023 with --port`
  return error instanceof MillraceError ? error.message : (message ?? String(error))
}
