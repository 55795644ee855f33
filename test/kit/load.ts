import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { buildChild, has, message } from './built-child.ts'

export interface Load {
  readonly runs: number
  readonly readers: number
  readonly seconds: number
  /** Tokens a second, of each run. */
  readonly perSecond: number
}

export interface LoadResult {
  readonly frames: number
  readonly lost: number
  readonly doubled: number
  /** Connections that broke. */
  readonly cut: number
  /** Milliseconds from the agent's token until a reader has it, at this share of all frames. */
  delay(share: number): number
  /** Bytes the server held: before the first token, the least in each third of the time, and at the end. */
  readonly memory: { readonly before: number; readonly thirds: readonly number[]; readonly after: number }
  /** The share of one core that the server took. */
  readonly cpu: number
}

interface Measured {
  readonly asked: string
  readonly memory: number
  readonly cpu: number
}
interface Ended {
  readonly faults: { readonly lost: number; readonly doubled: number; readonly cut: number }
  readonly delays: readonly (readonly [delay: number, count: number])[]
}

/** The whole server in one process, its readers in another: from the agent's token to its readers. */
export async function load({ runs, readers, seconds, perSecond }: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-load-'))
  const server = (await buildChild('load-server'))(folder, `${runs}`, `${seconds}`, `${perSecond}`)
  let client: ChildProcess | undefined
  try {
    const { port } = await message(server, has<{ port: number }>('port'))
    const tokens = seconds * perSecond
    client = (await buildChild('load-readers'))(`${port}`, `${readers}`, `${runs}`, `${tokens}`)
    await message(client, has('connected'))
    const ask = async (what: string): Promise<Measured> => {
      const answer = message(server, has<Measured>('asked'))
      server.send(what)
      return answer
    }
    const ended = message(client, has<Ended>('ended'))
    const begun = await ask('start')
    const thirds: number[] = []
    for (let third = 0; third < 3; third += 1) {
      await setTimeout((seconds * 1000) / 3)
      thirds.push((await ask('least')).memory)
    }
    const { faults, delays } = await ended
    const last = await ask('end')
    const frames = delays.reduce((sum, [, count]) => sum + count, 0)
    return {
      ...faults,
      frames,
      delay: (share) => shareOf(delays, frames * share),
      memory: { before: begun.memory, thirds, after: last.memory },
      cpu: (last.cpu - begun.cpu) / seconds,
    }
  } finally {
    for (const child of [server, client]) {
      if (child === undefined || child.exitCode !== null) continue
      child.kill()
      await once(child, 'exit')
    }
    rmSync(folder, { recursive: true })
  }
}

function shareOf(delays: Ended['delays'], wanted: number): number {
  let passed = 0
  for (const [delay, count] of delays.toSorted(([a], [b]) => a - b)) {
    passed += count
    if (passed >= wanted) return delay
  }
  return Number.NaN
}
