import { randomUUID } from 'node:crypto'
import {
  connect,
  defined,
  type Host,
  type Interrupted,
  type Json,
  type JsonObject,
  millrace,
  printRecorded,
  type Recorded,
  type ResumeAnswer,
  type RunInput,
  webHost,
} from '@millrace/core'
import { agentsFolder } from '../agents-folder.ts'
import { ask, isAsking } from '../ask.ts'
import { CommandError } from '../command-error.ts'
import { ctrlC, interruptedCode } from '../ctrl-c.ts'
import type { Env } from '../env-files.ts'
import { remark, textOut } from '../output.ts'
import { parseAnswer, questionText } from '../question.ts'
import { askServer, type ServerAccess, serverAt } from '../server-access.ts'
import { coloursOf, widthOf } from '../terminal.ts'
import { RunPainter } from './painter.ts'
import { runSummary } from './summary.ts'

export interface RunOptions {
  readonly answer: readonly string[]
  readonly agents?: string
  readonly server?: string
  readonly dataDir?: string
  readonly session?: string
  readonly state?: string
  readonly thoughts?: boolean
  readonly dialect?: string
  readonly json?: boolean
}

/** The exit code when a question was left open. */
const unanswered = 3

/** One run of an agent, and those that its questions lead to; resolves with the exit code. */
export async function runCommand(
  agent: string,
  prompt: string | undefined,
  options: RunOptions,
  env: Env,
): Promise<number> {
  const text = prompt ?? (await piped())
  const state = options.state === undefined ? undefined : stateIn(options.state)
  const server =
    options.server === undefined
      ? await (await import('../own-server.ts')).ownServer(options.agents ?? agentsFolder(), options.dataDir)
      : serverAt(options.server, env)
  const { signal, release } = ctrlC()
  const session = options.session ?? randomUUID()
  const answers = [...options.answer]
  try {
    await known(server, agent)
    const content = { role: 'user', parts: [{ text }] }
    let input: RunInput = { messages: [{ id: randomUUID(), role: 'user', content }], ...defined({ state }) }
    for (;;) {
      const rows = await followed(server, { agent, session, input, options, signal })
      const end = rows.findLast(({ event }) => event.kind === 'run.finished')?.event
      if (end?.kind !== 'run.finished') throw new CommandError('the stream ended before the run; look at the server')
      remark(runSummary(rows, coloursOf(process.stderr)))
      if (end.outcome === 'cancelled') return interruptedCode
      if (end.outcome !== 'interrupted') return end.outcome === 'done' ? 0 : 1
      const questions = rows.flatMap(({ event }) => (event.kind === 'interrupt' ? [event] : []))
      const resume = await answered(questions, answers, signal)
      if (resume === undefined) return signal.aborted ? interruptedCode : left(questions, session, options)
      input = { messages: [], resume }
    }
  } finally {
    release()
    await server.close()
  }
}

interface Turn {
  readonly agent: string
  readonly session: string
  readonly input: RunInput
  readonly options: RunOptions
  readonly signal: AbortSignal
}

/** Starts the run, writes it as it comes, and cancels it at Ctrl-C: its end is then in the log and in the stream. */
async function followed(server: ServerAccess, turn: Turn): Promise<readonly Recorded[]> {
  const { agent, session, input, options, signal } = turn
  const base = `/sessions/${encodeURIComponent(session)}`
  const body = JSON.stringify({ agent, input })
  const { run } = (await (await askServer(server, `${base}/runs`, { method: 'POST', body })).json()) as { run: string }
  const cancel = (): void =>
    void askServer(server, `${base}/cancel`, { method: 'POST', body: JSON.stringify({ run }) }).catch(() => undefined)
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  const of = `${base}/events?run=${encodeURIComponent(run)}`
  const wire = options.dialect === undefined ? undefined : printWire(server, `${of}&dialect=${options.dialect}`)
  const out = textOut(process.stdout)
  const painter = new RunPainter({
    write: (text) => void out.write(text),
    colours: coloursOf(process.stdout),
    width: widthOf(process.stdout),
    thoughts: options.thoughts === true,
  })
  const rows: Recorded[] = []
  const host: Host = {
    ...webHost(globalThis),
    fetch: (url, init) => server.fetch(url, init as RequestInit) as Promise<never>,
  }
  const stream = connect(`${server.url}${of}`, { dialect: millrace, host, headers: server.headers, maxAttempts: 5 })
  for await (const row of stream) {
    rows.push(row)
    if (options.json === true) await out.write(`${printRecorded(row)}\n`)
    else if (wire === undefined) painter.take(row)
  }
  if (options.json !== true && wire === undefined) painter.end()
  await out.flush()
  await wire
  signal.removeEventListener('abort', cancel)
  if (stream.state.phase === 'closed' && stream.state.how !== 'ended')
    throw new CommandError(`the stream of the run was lost: ${stream.state.problem?.message ?? stream.state.how}`)
  return rows
}

async function printWire(server: ServerAccess, path: string): Promise<void> {
  const answer = await askServer(server, path, { headers: { accept: 'text/event-stream' } })
  const out = textOut(process.stdout)
  const decoder = new TextDecoder()
  for await (const chunk of answer.body ?? []) await out.write(decoder.decode(chunk as Uint8Array, { stream: true }))
  await out.flush()
}

/** The answers to all questions; undefined when one has none. */
async function answered(
  questions: readonly Interrupted[],
  given: string[],
  signal: AbortSignal,
): Promise<readonly ResumeAnswer[] | undefined> {
  const answers: ResumeAnswer[] = []
  for (const question of questions) {
    const text =
      given.shift() ?? (isAsking() && !signal.aborted ? await ask(`? ${questionText(question)} `, signal) : undefined)
    if (text === undefined) return undefined
    const payload: Json = parseAnswer(text)
    answers.push({ interrupt: question.id, status: 'resolved', payload })
  }
  return answers
}

function left(questions: readonly Interrupted[], session: string, { server, dataDir }: RunOptions): number {
  for (const question of questions) remark(`? ${questionText(question)}`)
  const again = server === undefined && dataDir === undefined ? '' : `, in the session ${session}`
  remark(`The agent waits for an answer${again}: run it in a terminal, or add --answer y, n, JSON or text.`)
  return unanswered
}

async function known(server: ServerAccess, agent: string): Promise<void> {
  const names = server.agents ?? (await agentsOf(server))
  if (!names.includes(agent))
    throw new CommandError(`there is no agent ${agent}; known: ${names.length === 0 ? 'none' : names.join(', ')}`)
}

async function agentsOf(server: ServerAccess): Promise<readonly string[]> {
  const { agents } = (await (await askServer(server, '/agents')).json()) as {
    readonly agents: readonly { readonly name: string }[]
  }
  return agents.map(({ name }) => name)
}

async function piped(): Promise<string> {
  if (process.stdin.isTTY) throw new CommandError('say something to the agent: millrace run <agent> "prompt"', 2)
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  if (text.trim() === '') throw new CommandError('there is no prompt: give one, or pipe it in', 2)
  return text.trimEnd()
}

function stateIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  } catch {}
  throw new CommandError('--state must be a JSON object, such as \'{"key":1}\'', 2)
}
