import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { errnoSentence } from '../errno-sentence.ts'
import type { DoctorFinding } from './doctor.ts'

const oldestNode = [20, 19] as const
const writes = 20
/** A commit that takes longer than this makes every answer late, in ms. */
const slowWrite = 25
/** How long a program on the port may take to answer, in ms: a server on a busy machine needs seconds. */
const patience = 20_000

export function nodeFinding(version: string): DoctorFinding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
  if (isNew) return { what: 'Node', state: 'good', says: version }
  return {
    what: 'Node',
    state: 'bad',
    says: `${version} is too old`,
    advice: `install Node ${oldestNode.join('.')} or newer`,
  }
}

/** How long the disk takes to make a write durable: the log does that for every commit. */
export function diskFinding(folder: string): DoctorFinding {
  const file = join(folder, `.doctor-${process.pid}`)
  const isNew = !existsSync(folder)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const handle = openSync(file, 'w')
    const times: number[] = []
    for (let i = 0; i < writes; i += 1) {
      const begun = performance.now()
      writeSync(handle, Buffer.alloc(4096, i))
      fsyncSync(handle)
      times.push(performance.now() - begun)
    }
    closeSync(handle)
    rmSync(isNew ? folder : file, { recursive: true, force: true })
    const median = times.sort((a, b) => a - b)[writes / 2] ?? 0
    const says = `${median.toFixed(1)} ms for a durable write in ${folder}`
    if (median < slowWrite) return { what: 'disk', state: 'good', says }
    return { what: 'disk', state: 'warn', says, advice: 'put the log on a local SSD with --data-dir' }
  } catch (error) {
    const advice = 'change the permissions of the folder, or use another --data-dir'
    const { code, message } = error as NodeJS.ErrnoException
    const says = errnoSentence({ code, path: folder }) ?? `cannot write to ${folder}: ${message}`
    return { what: 'disk', state: 'bad', says, advice }
  }
}

export async function portFinding(text: string): Promise<DoctorFinding> {
  const what = 'port'
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    return { what, state: 'bad', says: `${text} is no port`, advice: 'choose a number from 0 to 65535' }
  const reason = await whyTaken(port)
  if (reason === undefined) return { what, state: 'good', says: `${port} is free` }
  if (reason !== 'EADDRINUSE')
    return {
      what,
      state: 'bad',
      says: `${port} cannot be used (${reason})`,
      advice: 'choose one above 1023 with --port',
    }
  const page = await openApi(port)
  if (page?.includes('Millrace')) return { what, state: 'good', says: `${port}, where a Millrace is running` }
  const whose = page === undefined ? 'by a program that gives no answer' : 'by another program'
  return { what, state: 'bad', says: `${port} is in use ${whose}`, advice: 'choose another with --port' }
}

function whyTaken(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)))
  })
}

/** What the program on this port says about its API; undefined if it does not speak HTTP or does not answer in time. */
async function openApi(port: number): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`, { signal: AbortSignal.timeout(patience) })
    return await answer.text()
  } catch {
    return undefined
  }
}
