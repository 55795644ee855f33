import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { packedFolder } from '../../scripts/pack.mjs'
import { packedMain } from './built-packages.ts'

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
  /** Pretends that these streams are terminals of 100 columns; true: stdout and stderr. */
  readonly tty?: true | readonly ('stdin' | 'stdout' | 'stderr')[]
}

/** A person at a terminal, who can be asked. */
export const person = ['stdin', 'stdout', 'stderr'] as const

function asTerminals(names: readonly string[]): string {
  const streams = names.map((name) => `process.${name}`)
  return `for(const s of[${streams}])Object.defineProperties(s,{isTTY:{value:true},columns:{value:100}})`
}

/** Starts the command; its standard input is open. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): ChildProcessWithoutNullStreams {
  const { env = {}, cwd = packedFolder, tty } = options
  const code = asTerminals(tty === true ? ['stdout', 'stderr'] : (tty ?? []))
  const before = tty === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
  return spawn(process.execPath, [...before, packedMain, ...args], { cwd, env: { ...env } })
}

/** Runs the command to its end. */
export async function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
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

/** The most memory that a process has had so far, in MB; undefined where the system does not say. */
export function peakMemory(pid: number): number | undefined {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return undefined
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8')) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}
