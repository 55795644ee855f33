import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { configIn } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a configuration whose import never ends is an error that says where', async () => {
  const file = join(folder, 'millrace.config.mjs')
  writeFileSync(file, 'await new Promise(() => {})\nexport default {}\n')
  await expect(configIn(file, 200)).rejects.toThrow(
    `${file}: its import waited 0.2 s and did not end: is there an await in it that never ends?`,
  )
})
