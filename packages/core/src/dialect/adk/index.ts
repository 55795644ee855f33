import type { Dialect } from '../dialect.ts'
import { AdkDecoder } from './decoder.ts'
import { AdkEncoder } from './encoder.ts'
import { isAdkFrame } from './wire.ts'

/**
 * Google ADK's `/run_sse`: one ADK event a frame, nothing else. ADK has no word for the start and the end of a run, so
 * Millrace says those in comments, which every SSE client skips:
 *
 *     : run.started <run> <agent>
 *     : run.finished <outcome> [<problem code>]
 *     : foreign {"reason":…,"raw":…}
 *
 * They cannot be `data:`, because adk-web takes each such line for an event, and stalls for good on one that is not JSON.
 *
 * In: both flavours (see ingest). A stream that never said `run.started` is ADK's own, and its end is the end of the run:
 * failed if an `{"error": …}` frame came or the last thing said was an error event (an earlier one was survived),
 * interrupted if a long-running call has no answer, done otherwise. One that did say it and stops without
 * `run.finished` was cut.
 *
 * Out: an agent event as it is, in camelCase and seconds, which is what adk-web and the seeds read. Of what no agent
 * event carries, that which ADK has a form for: `state` as an event with `stateDelta` (the top-level keys that were set;
 * ADK cannot remove one), `artifact` as `artifactDelta` unless an event announced that version, `interrupt` as a
 * long-running `adk_request_input` unless its call is long-running already. A failed run prints `{"error": message}`,
 * unless its last event said just that. What the user said prints as events by `user` only when `echo` asks for it: adk-web
 * shows its own. The rest (nodes, tasks, data, logs) has no form in ADK and prints nothing.
 */
export const adk: Dialect = {
  name: 'adk',
  decoder: (options) => new AdkDecoder(options),
  encoder: ({ echo = false }) => new AdkEncoder(echo),
  recognises: isAdkFrame,
}
