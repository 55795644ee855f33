import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeEventLog } from '@millrace/core/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { sqliteLog } from './sqlite-log.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-store-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let logs = 0
describeEventLog({ describe, expect, test }, 'sqlite', (now) => sqliteLog({ folder: join(root, `${logs++}`), now }))
