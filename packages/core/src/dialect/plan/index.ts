import type { Dialect } from '../dialect.ts'
import { PlanDecoder } from './decoder.ts'
import { PlanEncoder } from './encoder.ts'
import { isPlanFrame } from './wire.ts'

/**
 * The plan-and-execute contract (seed 002): a chat that streams text and sets tasks, and an execution that works on
 * them. The event line and the `type` field say the same. What its server has learnt to send since is read too.
 *
 * Every run ends with exactly one `done`, after `error` if it failed; `done` has a summary if the run worked on tasks.
 * Beyond the seed, and only where the log has something to say: `callId` on tools, `taskId` on content, `version` on
 * artifacts, `item` on data, `outcome` and `problem` on done. An `error` with a task fails that task, not the run.
 */
export const planDialect: Dialect = {
  name: 'plan',
  decoder: (options) => new PlanDecoder(options),
  encoder: (options) => new PlanEncoder(options),
  recognises: isPlanFrame,
}
