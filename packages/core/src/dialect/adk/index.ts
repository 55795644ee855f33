import type { Dialect } from '../dialect.ts'
import { AdkDecoder } from './decoder.ts'
import { AdkEncoder } from './encoder.ts'
import { isAdkFrame } from './wire.ts'

/**
 * Google ADK's `/run_sse`: one ADK event a frame, nothing else. ADK does not mark the start and the end of a run, so
 * Millrace writes those as comments, which every SSE client skips:
 *
 *     : run.started <run> <agent>
 *     : run.finished <outcome> [<problem code>]
 *     : foreign {"reason":…,"raw":…}
 *
 * They cannot be `data:`, because adk-web parses each such line as an event, and stalls for good on one that is not
 * JSON.
 *
 * In: the events of ADK for JavaScript and for Python. A stream without `run.started` comes from ADK itself, and its
 * end is the end of the run: failed if there was an `{"error": …}` frame or the last event was an error (the run
 * survived an earlier one), interrupted if a long-running call has no answer, done otherwise. A stream with
 * `run.started` that stops without `run.finished` was cut.
 *
 * Out: an agent event as it is, in camelCase and seconds, which is what adk-web reads. Other events are printed where
 * ADK has a form for them: `state` as an event with `stateDelta` (the top-level keys that were set; ADK cannot remove
 * one), `artifact` as `artifactDelta` unless an event announced that version, `interrupt` as a long-running
 * `adk_request_input` unless its call is long-running already. A failed run prints `{"error": message}`, unless its
 * last event had the same message. The user's messages are printed as events by `user` only with `echo`, because
 * adk-web shows its own. The rest (nodes, tasks, data, logs) has no form in ADK and prints nothing. See
 * docs/wires/adk.md.
 */
export const adk: Dialect = {
  name: 'adk',
  decoder: (options) => new AdkDecoder(options),
  encoder: ({ echo = false, facts }) => new AdkEncoder(echo, facts),
  recognises: isAdkFrame,
  fromFacts: true,
}
