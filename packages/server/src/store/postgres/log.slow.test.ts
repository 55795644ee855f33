import { describeEventLog } from '@millrace/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../test/kit/postgres.ts'
import { postgresLog } from './index.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.stop())

let logs = 0
const options = () => ({ url: postgres.url, schema: `log ${logs++}`, connections: 3 })

describeEventLog({ describe, expect, test }, 'postgres', (now) => postgresLog({ ...options(), now }))
