import { appendContract } from './append.contract.ts'
import { followContract } from './follow.contract.ts'
import { historyContract } from './history.contract.ts'
import { kitOf, type MakeLog, type Runner } from './kit.contract.ts'
import { leaseContract } from './lease.contract.ts'
import { modelContract } from './model.contract.ts'
import { sessionContract } from './session.contract.ts'

export type { MakeLog, Matchers, Runner } from './kit.contract.ts'

/**
 * The log contract (SPEC 2) in executable form: every sentence of `EventLog`, for any implementation.
 *
 * ```ts
 * import { describeEventLog } from '@millrace/core/testing'
 * import { describe, expect, test } from 'vitest'
 * describeEventLog({ describe, expect, test }, 'memory', memoryLog)
 * ```
 */
export function describeEventLog(runner: Runner, name: string, makeLog: MakeLog): void {
  const kit = kitOf(runner, makeLog)
  runner.describe(`EventLog: ${name}`, () => {
    runner.describe('sessions', () => sessionContract(kit))
    runner.describe('append and read', () => appendContract(kit))
    runner.describe('follow', () => followContract(kit))
    runner.describe('leases', () => leaseContract(kit))
    runner.describe('restore and prune', () => historyContract(kit))
    runner.describe('against the reference', () => modelContract(kit))
  })
}
