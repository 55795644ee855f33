import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { MillraceError } from '@millrace/core'
import { PassingMap } from '@millrace/core/store'
import type { Agent } from '../agent.ts'
import { brokenDescription } from '../broken-description.ts'
import { lazyStream } from '../lazy-stream.ts'
import { openAgent } from '../open-agent.ts'
import { explainThrown, messageOf } from '../problem.ts'
import { preloadEngines } from '../shared-modules.ts'
import { ChildRun } from './child-run.ts'
import { HistoryReceiver } from './history-transfer.ts'
import { Outbox } from './outbox.ts'
import type { OpenAgent, ProcessUse, ToProcess } from './protocol.ts'

// The process of one agent: `agent-process.ts` starts it with this file. It ends when the server does.

const histories = new HistoryReceiver()
const runs = new PassingMap<number, ChildRun>()
const driven = new PassingMap<number, Promise<void>>()
let agent: Agent | undefined
/** What the process had used when it got its agent: a spare one may have waited for hours. */
let opened = { loop: performance.eventLoopUtilization(), cpu: process.cpuUsage() }

// The agent's code may replace or close what `process` has; these must stay what they are.
const ipc = process.send?.bind(process)
const exit = process.exit.bind(process)
const memory = process.memoryUsage.rss
const cpuUsage = process.cpuUsage.bind(process)
const kill = process.kill.bind(process)
const group = -process.pid

/** How long the runs have to end what they started, such as MCP servers, once the server is gone; in ms. */
const patience = 1000

/** The callback keeps a closed channel from being an exception. */
const outbox = new Outbox((texts, sent) => {
  if (process.connected) ipc?.(texts, sent)
  else sent()
})
const send: Outbox['send'] = (message, sent) => outbox.send(message, sent)

async function describe(asked: Agent, call: number): Promise<void> {
  send({ kind: 'described', call, description: await asked.describe() })
}

function take(message: ToProcess): void {
  if (message.kind === 'ping') send({ kind: 'pong', used: use() })
  else if (message.kind === 'prepare') void preloadEngines(message.engines)
  else if (message.kind === 'open') {
    if (message.agent.env !== undefined) setVariables(message.agent.env)
    opened = { loop: performance.eventLoopUtilization(), cpu: cpuUsage() }
    agent = opening(message.agent)
  } else if (agent === undefined) throw new MillraceError('internal', 'the first message must open the agent')
  else if (message.kind === 'describe') void describe(agent, message.call)
  else if (message.kind === 'run') {
    const { call } = message
    const run = new ChildRun(call, outbox)
    runs.set(call, run)
    const history = histories.receive(message.context.session, message.history)
    const drive = run.drive(agent, message, { history, now: Date.now, newId: randomUUID }).finally(() => {
      runs.delete(call)
      driven.delete(call)
    })
    driven.set(call, drive)
  } else runs.get(message.call)?.take(message)
}

/** What the server sent together and was not taken yet. */
const received: string[] = []

/** Each message gets a turn of its own: runs that begin together would hold all that they make at the same time. */
function takeNext(): void {
  const text = received[0]
  if (text === undefined) return
  try {
    take(JSON.parse(text))
  } finally {
    received.shift()
    if (received.length > 0) setImmediate(takeNext)
  }
}

/** The agent of the file, which is loaded at once. One that does not load is described with the error. */
function opening({ name, file, models }: OpenAgent): Agent {
  const loaded = openAgent(name, file, models, false)
  loaded.catch(() => undefined)
  return {
    name,
    async describe() {
      try {
        return await (await loaded).describe()
      } catch (error) {
        return brokenDescription(name, messageOf(error))
      }
    },
    run: (input, context) => lazyStream(async () => (await loaded).run(input, context)),
  }
}

/** A process that was started before it had an agent has the variables of the server. */
function setVariables(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name]
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value
}

function use(): ProcessUse {
  const { idle, active } = performance.eventLoopUtilization(opened.loop)
  const { user, system } = cpuUsage(opened.cpu)
  return { memory: memory(), idle, active, cpu: (user + system) / 1000 }
}

/** The server is gone, or needs this process no longer: the runs end what they started, and what is left is killed. */
async function leave(): Promise<void> {
  for (const run of runs.values()) run.abort({ code: 'cancelled', message: 'the server stopped' })
  await Promise.race([Promise.all(driven.values()), wait(patience)])
  // Added now, so that it is called after what the agent's code listens with. It also ends this process.
  process.once('exit', () => {
    try {
      kill(group, 'SIGKILL')
    } catch {
      // This system has no process groups.
    }
  })
  exit(0)
}

process.on('message', (texts: readonly string[]) => {
  received.push(...texts)
  if (received.length === texts.length) takeNext()
})
process.on('disconnect', () => void leave())
process.on('uncaughtException', (error) => {
  // Once the server is gone, `leave` is already under way.
  if (process.connected) send({ kind: 'fault', ...explainThrown(error) }, () => exit(1))
})
process.on('unhandledRejection', (error) => send({ kind: 'stray', ...explainThrown(error) }))
// The agent's code may have called process.exit: what it yielded before is still recorded.
process.on('exit', () => {
  for (const run of runs.values()) run.endTurn()
  outbox.flush()
})
// The server decides when this process ends; a signal to a whole service must not end runs that have time to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

/**
 * The server may be killed while the agent's code blocks this thread, and then `disconnect` is never seen. A thread of
 * its own looks for that, and ends this process and those that it started.
 */
const guard = `
const parent = process.ppid
const end = (pid) => { try { process.kill(pid, 'SIGKILL') } catch {} }
setInterval(() => {
  if (process.ppid === parent) return
  end(-process.pid)
  end(process.pid)
}, 1000)`
new Worker(guard, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref()
