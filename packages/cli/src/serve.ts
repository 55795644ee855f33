import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type EventLog, MillraceError, webHost } from '@millrace/core'
import { createMillrace, discoverAgents, loadConfig, type Millrace, modelSettings, sqliteLog } from '@millrace/server'
import { endpointOf, readSettings, type Settings } from './settings.ts'
import { version } from './version.ts'

const page = fileURLToPath(new URL('../page/', import.meta.url))
/** The examples: built beside us in the workspace, and later shipped with the package. */
const examples = fileURLToPath(new URL('../../../agents/dist/', import.meta.url))

/** How often the runs of dead processes are looked for, and deltas that need not be kept. */
const recoverEvery = 10_000
const pruneEvery = 60 * 60_000

/** Without a request for so long, nobody waits. */
const quiet = 500

/** Serves until a signal; resolves with the exit code. */
export async function serve(args: readonly string[]): Promise<number> {
  const settings = readSettings(args, process.env)
  if ('say' in settings) {
    if (settings.code === 0) console.log(settings.say)
    else console.error(settings.say)
    return settings.code
  }
  // Before anything is opened: who stops us while we start must not leave half a start behind.
  const stop = signalled()
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
  return stopped(millrace, log, settings, stop)
}

async function compose(settings: Settings, log: EventLog): Promise<Millrace> {
  const folder = settings.agents ?? (existsSync(examples) ? examples : undefined)
  const agents = discoverAgents(folder, {
    models: modelSettings(process.env),
    config: await loadConfig(process.cwd()),
    host: webHost(globalThis),
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
  warmWhenQuiet(millrace, () => agents.warm())
  return millrace
}

/**
 * Agents load in the first quiet moment after the port answers. Importing ADK takes a second or two and blocks everything
 * meanwhile: measured, a `/health` sent at once waited 1.6 s for it when that began with the listening.
 */
function warmWhenQuiet({ app }: Millrace, warm: () => Promise<void>): void {
  app.addHook('onListen', async () => {
    const timer = setTimeout(() => {
      app.server.off('request', wait)
      void warm()
    }, quiet)
    const wait = (): void => void timer.refresh()
    app.server.on('request', wait)
    app.server.once('close', () => clearTimeout(timer))
  })
}

/** Loaded only when traces are wanted: the exporter would cost every start a fifth of a second. */
async function telemetryOf(env: NodeJS.ProcessEnv) {
  return endpointOf(env) === '' ? undefined : (await import('./telemetry.ts')).openTelemetry(env, version)
}

/** Resolves at Ctrl-C or SIGTERM. A second signal does not wait. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const take = (): void => {
      if (asked) process.exit(130)
      asked = true
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, take)
  })
}

/** Runs until it is told to stop, then stops in order: runs, streams, HTTP, log. */
async function stopped(
  millrace: Millrace,
  log: EventLog,
  { grace, retain }: Settings,
  stop: Promise<void>,
): Promise<number> {
  const chores = [
    repeated(recoverEvery, () => millrace.engine.recover(), failing(millrace, 'recovery failed')),
    ...(retain === undefined
      ? []
      : [repeated(pruneEvery, () => log.prune(Date.now() - retain), failing(millrace, 'retention failed'))]),
  ]
  // An agent's code may let go of a promise that fails: no reason to end the runs of all others with it.
  const slip = failing(millrace, 'unhandled rejection in agent code')
  process.on('unhandledRejection', slip)
  await stop
  for (const chore of chores) clearInterval(chore)
  await millrace.close(grace)
  await log.close()
  process.off('unhandledRejection', slip)
  return 0
}

/** Now, and again each `every` ms. */
function repeated(every: number, work: () => Promise<unknown>, failed: (error: unknown) => void): NodeJS.Timeout {
  const go = (): void => void work().catch(failed)
  go()
  return setInterval(go, every)
}

function failing({ app }: Millrace, what: string): (error: unknown) => void {
  return (error) => app.log.error({ err: error }, what)
}

/** What to tell a person: our own errors and the usual ones of listening are sentences already. */
function reasonOf(error: unknown, { host, port }: Settings): string {
  const { code, message } = error as { code?: string; message?: string }
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken; choose another with --port`
  if (code === 'EACCES') return `port ${port} needs more rights than this user has; choose one above 1023 with --port`
  return error instanceof MillraceError ? error.message : (message ?? String(error))
}
