import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { defined, type EventLog, MillraceError, webHost } from '@millrace/core'
import {
  type Access,
  type AgentCatalog,
  type AgentDescription,
  createMillrace,
  discoverAgents,
  explainThrown,
  fileEvalStore,
  type Millrace,
  removeAside,
  type ShareName,
  type SomeShares,
} from '@millrace/server'
import { agentsFolder, configFor, isExamples, pageFolder } from '../agents-folder.ts'
import { type EnvFiles, envFiles } from '../env-files.ts'
import { whyNotListening } from '../listening.ts'
import { type OpenStore, openStore } from '../open-store.ts'
import { configLines } from '../serve-config/print-config.ts'
import { coloursOf } from '../terminal.ts'
import { version } from '../version.ts'
import { findAdkWeb } from './adk-web.ts'
import { agentTable } from './agent-table.ts'
import { namedAgents } from './agents-argument.ts'
import { greeting } from './greeting.ts'
import { laidOut } from './help-layout.ts'
import { type LogLines, logLines } from './log-lines.ts'
import { memoryUse } from './memory.ts'
import { endpointOf, readSettings, type Settings } from './settings.ts'
import { sharedTicketKey, ticketKey } from './ticket-key.ts'

/** How often the runs of dead processes are recovered and waiting ones looked for, and partial events deleted that retention does not keep; in ms. */
const recoverEvery = 10_000
/** The same where other servers share the log: what one of them hands over must not wait. */
const recoverSharedEvery = 1_000
const pruneEvery = 60 * 60_000
const removeEvery = 60_000

/** How often edited agents are looked for, in ms. */
const lookForEditsEvery = 1_000

/** Agents load after this long without a request, in ms. */
const idleBeforeWarmUp = 500

/** Serves until a signal; resolves with the exit code. `agents` is the folder to serve when no setting names one. */
export async function serve(typed: readonly string[], agents = agentsFolder()): Promise<number> {
  const given = namedAgents(typed)
  if (given.includes('--watch')) return (await import('../serve-config/watch.ts')).watchServer(given, agents)
  const isShown = given.includes('--print-config')
  const args = given.filter((arg) => arg !== '--print-config')
  const env = envFiles(process.env, process.cwd())
  const settings = readSettings(args, env.base)
  if ('message' in settings) {
    if (settings.code === 0) console.log(laidOut(settings.message, process.stdout.columns ?? 100))
    else console.error(settings.message)
    return settings.code
  }
  if (isShown) {
    const file = await configFor(settings.agents ?? agents, settings.config)
    for (const line of configLines(args, env.base, settings.agents ?? agents, file)) console.log(line)
    return 0
  }
  // Listen for signals before anything is opened, so that a signal during the start is not lost.
  const stop = signalled()
  let store: OpenStore | undefined
  let millrace: Millrace | undefined
  const start = async (): Promise<{ readonly millrace: Millrace; readonly store: OpenStore }> => {
    store = await openStore(settings.store, Date.now, {
      postgres: settings.postgres,
      owned: hasUsers(settings),
      onLost: (error) => reportLoss(error, millrace),
    })
    millrace = await compose(settings, settings.agents ?? agents, store, env)
    const address = await millrace.app.listen({ host: settings.host, port: settings.port })
    console.log(greetingOf(settings, settings.agents ?? agents, address))
    return { millrace, store }
  }
  try {
    const started = await Promise.race([start(), stop])
    if (started !== undefined) return await runUntil(stop, started.millrace, started.store, settings)
  } catch (error) {
    console.error(`millrace: ${reasonOf(error, settings)}`)
    await store?.log.close()
    return 1
  }
  // What was being loaded, such as a configuration that waits for something, would keep the process alive.
  await store?.log.close()
  process.exit(0)
}

function greetingOf({ adkWeb, basePath, store }: Settings, folder: string, address: string): string {
  const served = {
    version,
    address,
    agents: isExamples(folder) ? undefined : folder,
    // The address of a database has a password in it.
    store: store.kind === 'postgres' ? 'PostgreSQL' : store.folder,
    ...defined({ adkWeb: adkWeb ? `${address}${basePath}/dev-ui/` : undefined }),
  }
  return greeting(served, process.stdout.isTTY === true, coloursOf(process.stdout))
}

/** A file of the log was removed while the server runs: an operator must see that at every log level. */
function reportLoss(error: MillraceError, millrace: Millrace | undefined): void {
  millrace?.app.log.error({ err: error }, error.message)
  console.error(`millrace: ${error.message}`)
}

async function compose(
  settings: Settings,
  folder: string,
  { log, owner }: OpenStore,
  env: EnvFiles,
): Promise<Millrace> {
  let millrace: Millrace | undefined
  const onFault = (agent: string, message: string, stack?: string): void =>
    millrace?.app.log.error({ agent, ...defined({ stack }) }, message)
  // The examples are part of this command and are trusted with its process.
  const isolated = settings.isolate && !isExamples(folder)
  const config = await configFor(folder, settings.config)
  const agents = discoverAgents(folder, {
    ...(isolated ? { isolate: { ...settings.agentLimits, onFault } } : {}),
    env: isolated ? env.read : env.of,
    envFiles: env.files,
    config,
    host: webHost(globalThis),
    onLoad: (agent, again) => {
      if (again && millrace?.app.server.listening === true) reportReload(agent, millrace)
    },
    onThrow: (agent, run, message) => millrace?.app.log.error({ agent, run }, message),
  })
  if (settings.defaultAgent !== undefined && !agents.agents.has(settings.defaultAgent)) {
    const known = [...agents.agents.keys()].join(', ')
    throw new MillraceError('invalid', `--default-agent: there is no agent ${settings.defaultAgent}; known: ${known}`)
  }
  const adkWeb = settings.adkWeb ? findAdkWeb(process.cwd(), ...(folder === undefined ? [] : [folder])) : undefined
  const telemetry = await telemetryOf(process.env)
  millrace = await createMillrace({
    log,
    agents,
    now: Date.now,
    newId: randomUUID,
    owner,
    runLimits: { leaseTtl: settings.lease },
    recordPrompts: (agent) => config.recordPrompts?.[agent] ?? settings.recordPrompts,
    evals: fileEvalStore(join(settings.store.folder, 'evals')),
    version,
    fallback: settings.defaultAgent ?? 'assistant',
    access: accessOf(settings, log),
    basePath: settings.basePath,
    logger: { level: settings.logLevel, stream: serverLog() },
    limits: { shares: bothShares(config.limits, settings.shares) },
    memory: () => memoryUse(settings.maxMemory),
    ...defined({
      disconnect: config.disconnect,
      prices: config.prices,
      tracing: telemetry,
      page: pageFolder(),
      adkWeb,
    }),
  })
  millrace.app.addHook('onClose', () => telemetry?.close())
  millrace.app.addHook('onClose', () => agents.close())
  const opened = millrace
  warmWhenIdle(opened, async () => {
    const loaded = await agents.warm()
    // The server may have been stopped while agents were loading: an agent that did not load then is not broken.
    if (!opened.app.server.listening) return
    console.log(agentTable(loaded, coloursOf(process.stdout)))
    watchAgents(opened, agents)
  })
  return millrace
}

function accessOf({ hostNames: hosts, origins, tokens, identity, store }: Settings, { secret }: EventLog): Access {
  const signsIn = tokens !== undefined || identity.jwt !== undefined
  // Replicas share the log, so that each of them knows the cookies of the others.
  const key = store.kind === 'postgres' && secret !== undefined ? sharedTicketKey(secret) : undefined
  return {
    hosts,
    origins,
    ...identity,
    ...defined({ tokens, ticketKey: signsIn ? (key ?? ticketKey(store.folder)) : undefined }),
  }
}

/** Whether requests must prove who they come from. */
function hasUsers({ tokens, identity }: Settings): boolean {
  return tokens !== undefined || identity.jwt !== undefined || identity.proxy !== undefined
}

/** Flags and variables win over the file. */
function bothShares(file: SomeShares = {}, flags: SomeShares): SomeShares {
  const names = [...Object.keys(file), ...Object.keys(flags)] as readonly ShareName[]
  return Object.fromEntries(names.map((name) => [name, { ...file[name], ...flags[name] }]))
}

function serverLog(): LogLines {
  const lines = logLines((text) => process.stdout.write(text))
  process.once('exit', lines.flush)
  return lines
}

/** Looks for edits, so that an author sees an error without a request. A run looks for them itself. */
function watchAgents({ app }: Millrace, agents: AgentCatalog): void {
  const timer = setInterval(() => agents.reload(), lookForEditsEvery)
  app.server.once('close', () => clearInterval(timer))
}

/** An edit that does not load is an error in the log; one that does is one line for its author. */
function reportReload({ name, error, editError }: AgentDescription, millrace: Millrace | undefined): void {
  const reason = error ?? editError
  if (reason === undefined) console.log(`${name} was reloaded`)
  else
    millrace?.app.log.error(
      { agent: name },
      error === undefined ? `${reason} (the version before it still runs)` : reason,
    )
}

/**
 * Loads the agents in the first idle moment after the port answers. Importing ADK blocks the process for a second or
 * two: when that began together with listening, a `/health` sent at once was measured to wait 1.6 s.
 */
function warmWhenIdle({ app }: Millrace, warm: () => Promise<unknown>): void {
  app.addHook('onListen', async () => {
    const timer = setTimeout(() => {
      app.server.off('request', wait)
      void warm()
    }, idleBeforeWarmUp)
    const wait = (): void => void timer.refresh()
    app.server.on('request', wait)
    app.server.once('close', () => clearTimeout(timer))
  })
}

/** Loaded only when traces are configured, because the exporter adds a fifth of a second to a start. */
async function telemetryOf(env: NodeJS.ProcessEnv) {
  return endpointOf(env) === '' ? undefined : (await import('./telemetry.ts')).openTelemetry(env, version)
}

/** Resolves at Ctrl-C or SIGTERM. A second signal ends the process at once. */
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

/** Serves until `stop` resolves, then closes runs, streams, HTTP and log, in this order. */
async function runUntil(
  stop: Promise<void>,
  millrace: Millrace,
  { log }: OpenStore,
  { grace, retain, lease, store }: Settings,
): Promise<number> {
  const chores = [
    repeated(
      Math.min(store.kind === 'postgres' ? recoverSharedEvery : recoverEvery, lease / 2),
      () => millrace.engine.recover(),
      logged(millrace, 'recovery failed'),
    ),
    repeated(removeEvery, () => removeAside(log, Date.now()), logged(millrace, 'removing deleted sessions failed')),
    ...(retain === undefined
      ? []
      : [repeated(pruneEvery, () => log.prune(Date.now() - retain), logged(millrace, 'retention failed'))]),
  ]
  // An agent's code may leave a rejected promise unhandled; that must not end the runs of the other agents.
  const onUnhandled = (error: unknown): void => {
    const { message, ...place } = explainThrown(error)
    millrace.app.log.error(place, `unhandled rejection in agent code: ${message}`)
  }
  process.on('unhandledRejection', onUnhandled)
  await stop
  for (const chore of chores) clearInterval(chore)
  await millrace.close(grace)
  await log.close()
  process.off('unhandledRejection', onUnhandled)
  return 0
}

/** Does the work now, and again every `every` ms. */
function repeated(every: number, work: () => Promise<unknown>, failed: (error: unknown) => void): NodeJS.Timeout {
  const go = (): void => void work().catch(failed)
  go()
  return setInterval(go, every)
}

function logged({ app }: Millrace, what: string): (error: unknown) => void {
  return (error) => app.log.error({ err: error }, what)
}

/** The sentence to print. */
function reasonOf(error: unknown, { host, port }: Settings): string {
  const listening = whyNotListening(error, { host, port })
  if (listening !== undefined) return listening
  const { message } = error as { message?: string }
  return error instanceof MillraceError ? error.message : (message ?? String(error))
}
