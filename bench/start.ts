import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, type Row } from './kit/row.ts'

const repetitions = 5
const bar = 1000

/** How long `npm start` takes on an installed, built tree until `/health` answers, beside importing ADK alone. */
export async function bench(): Promise<readonly Row[]> {
  await ended(spawn(process.execPath, ['scripts/build.mjs'], { stdio: 'ignore' }))
  const ours: number[] = []
  const peer: number[] = []
  const bare: number[] = []
  for (let i = 0; i < repetitions; i++) {
    ours.push(await untilHealthy())
    peer.push(await timed("import('@google/adk')"))
    bare.push(await timed('0'))
  }
  const [start, adk] = [median(ours), median(peer)]
  return [
    {
      what: '`npm start` on a built tree, until /health answers (ms)',
      ours: start,
      peer: 'import @google/adk',
      peerValue: adk,
      limit: `node -e 0: ${Math.round(median(bare))} ms`,
      ratio: start / adk,
      bar: '≤ 1 s',
      ok: start <= bar,
    },
  ]
}

async function timed(code: string): Promise<number> {
  const begun = performance.now()
  await ended(spawn(process.execPath, ['-e', code], { stdio: 'ignore' }))
  return performance.now() - begun
}

async function untilHealthy(): Promise<number> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'))
  const begun = performance.now()
  const env = { ...process.env, PORT: String(port), DATA_DIR: folder }
  const child = spawn(process.execPath, ['scripts/start.mjs'], { env, stdio: 'ignore' })
  const gone = ended(child)
  let healthy = false
  while (!healthy) {
    healthy = (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok === true
    if (!healthy) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const took = performance.now() - begun
  child.kill('SIGTERM')
  await gone
  await rm(folder, { recursive: true, force: true })
  return took
}

const ended = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('exit', () => resolve()))

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
