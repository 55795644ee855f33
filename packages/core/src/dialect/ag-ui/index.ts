import type { Dialect } from '../dialect.ts'
import { agUiDecoder } from './decoder.ts'
import { agUiEncoder } from './encoder.ts'
import { isAgUiFrame } from './wire.ts'

/**
 * AG-UI 1.0. 0.x is read too, and printed for a reader that understands nothing newer (`protocol: '0'`). The official
 * `verifyEvents` and schemas accept the printed form of any log: START before CONTENT, every message closed before
 * RUN_FINISHED, exactly one terminal event a run, RUN_ERROR for a failed one. See docs/wires/ag-ui.md.
 *
 * | canonical | AG-UI |
 * |---|---|
 * | run.started, run.finished | RUN_STARTED (with its input), RUN_FINISHED with outcome and usage, RUN_ERROR |
 * | agent: text, thoughts, calls, results | TEXT_MESSAGE_*, REASONING_*, TOOL_CALL_*, TOOL_CALL_RESULT |
 * | agent: files, code | ACTIVITY_SNAPSHOT `media`, `adk.part` (an assistant's message holds text alone) |
 * | stateDelta, state | STATE_DELTA, and STATE_SNAPSHOT at the end of a run that changed it |
 * | node.* | STEP_* at the top, SUBAGENT_* below; the run's own agent is the run |
 * | superseded | MESSAGES_SNAPSHOT without it |
 * | interrupt | RUN_FINISHED.outcome |
 * | tasks, artifacts, data, log, foreign | CUSTOM `millrace.<kind>` |
 */
export const agUi: Dialect = {
  name: 'ag-ui',
  decoder: agUiDecoder,
  encoder: agUiEncoder,
  recognises: isAgUiFrame,
}
