import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, serveBuilt } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { fuzz } from './fuzz.ts'

let server: Served
const folder = mkdtempSync(join(tmpdir(), 'millrace-fuzz-'))
beforeAll(async () => {
  server = await serveBuilt(['serve', '--port', '0', '--data-dir', folder], { MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' })
})
afterAll(async () => {
  await server?.kill()
  rmSync(folder, { recursive: true, force: true })
})

test('SPEC 6.3: random requests to every door are answered without a 5xx and without a broken connection', async () => {
  const seed = Number(process.env.PROPERTY_SEED ?? 20_261_116)
  const { address, child } = server
  const until = full ? { seconds: 60 } : { requests: 500 }
  const result = await fuzz({ address, until, seed, pid: child.pid ?? 0, folder })
  const { faults, never, grown } = result
  expect({ faults, never, grown }, `seed ${seed}`).toEqual({ faults: [], never: [], grown: [] })
  expect(child.exitCode).toBeNull()
  expect(result.statuses[200]).toBeGreaterThan(10)
})
