import type { Dialect } from '../dialect.ts'
import { PlanDecoder } from './decoder.ts'
import { PlanEncoder } from './encoder.ts'
import { isPlanFrame } from './wire.ts'

/**
 * The plan-and-execute contract: a chat that streams text and sets tasks, and an execution that works on them. The
 * event line and the `type` field are equal. Events that its server has learnt to send since are read too.
 *
 * Every run ends with exactly one `done`, after `error` if it failed; `done` has a summary if the run worked on tasks.
 * Beyond the contract, and only where the log has a value: `callId` on tools, `taskId` on content, `version` on
 * artifacts, `item` on data, `outcome` and `problem` on done. An `error` with a task fails that task, not the run. See
 * docs/wires/plan.md.
 */
export const planDialect: Dialect = {
  name: 'plan',
  decoder: (options) => new PlanDecoder(options),
  encoder: (options) => new PlanEncoder(options),
  recognises: isPlanFrame,
}
