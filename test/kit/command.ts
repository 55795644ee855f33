import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packedFolder } from '../../scripts/pack.mjs'
import { packedMain } from './built-packages.ts'
import { full } from './full.ts'

/** The packed command as a process: what it wrote, and its exit code. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface CommandOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Pretends that these streams are terminals; true: stdout and stderr. */
  readonly tty?: true | readonly ('stdin' | 'stdout' | 'stderr')[]
  /** The columns of the terminals; 100 by default. */
  readonly columns?: number
  /** As the leader of a process group, which a terminal sends Ctrl-C to. */
  readonly group?: true
  /** In a process of its own also in the small form. */
  readonly alone?: boolean
}

/** A person at a terminal, who can be asked. */
export const person = ['stdin', 'stdout', 'stderr'] as const

const outputs = ['stdout', 'stderr'] as const

function asTerminals(names: readonly string[], columns: number): string {
  const streams = names.map((name) => `process.${name}`)
  return `for(const s of[${streams}])Object.defineProperties(s,{isTTY:{value:true},columns:{value:${columns}}})`
}

/** Starts the command; its standard input is open. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): ChildProcessWithoutNullStreams {
  const { env = {}, cwd = packedFolder, tty, columns = 100, group: detached = false } = options
  const code = asTerminals(tty === true ? outputs : (tty ?? []), columns)
  const before = tty === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
  return spawn(process.execPath, [...before, packedMain, ...args], { cwd, env: { ...env }, detached })
}

/**
 * Runs the command to its end. In the small form one process runs the commands of a worker one after the other, because
 * most of a command's time goes into imports; those that are started by `startCommand` have a process of their own.
 */
export async function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  return full || options.alone === true ? runAlone(args, options) : runHosted(args, options)
}

let turn: Promise<unknown> = Promise.resolve()
let host: Promise<ChildProcess> | undefined

function runHosted(args: readonly string[], options: CommandOptions): Promise<Ended> {
  const { stdin = '', env = {}, cwd = packedFolder, tty = [], columns = 100 } = options
  const ended = turn.then(async () => {
    host ??= startHost()
    const child = await host
    const over = new AbortController()
    const first = (event: string) => once(child, event, { signal: over.signal }).catch(() => [])
    const answer = Promise.race([first('message'), first('exit').then(() => [])])
    child.send({ args, stdin, env, cwd, tty: tty === true ? outputs : tty, columns })
    const [found] = await answer
    over.abort()
    if (found !== undefined) return found as Ended
    host = undefined
    throw new Error(`the process of the commands ended with millrace ${args.join(' ')}`)
  })
  turn = ended.catch(() => undefined)
  return ended
}

async function startHost(): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('command-host.mjs', import.meta.url))
  const child = fork(script, [packedMain], { cwd: packedFolder, env: {} })
  await once(child, 'message')
  // It ends with this worker, and does not keep the worker alive.
  child.unref()
  child.channel?.unref()
  return child
}

async function runAlone(args: readonly string[], options: CommandOptions): Promise<Ended> {
  const child = startCommand(args, options)
  const ended = endOf(child)
  child.stdin.on('error', () => {})
  child.stdin.end(options.stdin ?? '')
  return ended
}

export async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? -1, out, err }
}

/** A command that serves until Ctrl-C. */
export interface ServingCommand {
  readonly address: string
  /** Ctrl-C. */
  stop(): Promise<Ended>
}

/** Starts a command that serves, and resolves with its address. */
export async function servingCommand(args: readonly string[], options: CommandOptions = {}): Promise<ServingCommand> {
  const child = startCommand(args, options)
  const ended = endOf(child)
  const address = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (text: string) => {
      said += text
      const [, found] = /(?:listening on |"address":")(http:[^\s"]+)/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    void ended.then(({ err }) => reject(new Error(`it ended: ${said}${err}`)))
  })
  return {
    address,
    async stop() {
      child.kill('SIGINT')
      return ended
    },
  }
}

/** The most memory that a process has had so far, in MB; undefined where the system does not say. */
export function peakMemory(pid: number): number | undefined {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return undefined
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8')) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}
