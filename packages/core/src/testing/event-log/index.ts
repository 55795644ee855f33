import type { Runner } from '../runner.ts'
import { appendContract } from './append.ts'
import { cutOffContract } from './cut-off.ts'
import { factsContract } from './facts.ts'
import { findContract } from './find.ts'
import { followContract } from './follow.ts'
import { forkContract } from './fork.ts'
import { historyContract } from './history.ts'
import { kitOf, type MakeLog } from './kit.ts'
import { leaseContract } from './lease.ts'
import { modelContract } from './model.ts'
import { sessionContract } from './session.ts'
import { sharedContract } from './shared.ts'

export type { MakeLog } from './kit.ts'

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
    runner.describe('cut off', () => cutOffContract(kit))
    runner.describe('follow', () => followContract(kit))
    runner.describe('leases', () => leaseContract(kit))
    runner.describe('restore and prune', () => historyContract(kit))
    runner.describe('forks', () => forkContract(kit))
    runner.describe('facts', () => factsContract(kit))
    runner.describe('shared values and search', () => sharedContract(kit))
    runner.describe('find', () => findContract(kit))
    runner.describe('against the reference', () => modelContract(kit))
  })
}
