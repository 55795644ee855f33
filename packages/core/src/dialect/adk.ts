import { adkIngest } from '../event/ingest.ts'
import type { Draft, RunEvent } from '../event/run-event.ts'
import type { Frame } from '../frame/frame.ts'
import type { Dialect } from './dialect.ts'

/**
 * Google ADK's `/run_sse`: one ADK event a frame, no terminal event of its own, errors as `{"error": …}`.
 * The end of a run is written as a comment, because adk-web takes every `data:` line for an event.
 */
export const adk: Dialect = {
  name: 'adk',
  decoder({ run, agent = '' }) {
    const ingest = adkIngest()
    let started = false
    let failed = false
    const draft = (event: RunEvent): Draft => ({ run, event })
    return {
      session: undefined,
      push(frame) {
        if (frame.data === '') return []
        const drafts: Draft[] = []
        const raw = parse(frame.data)
        if (!started) {
          started = true
          drafts.push(draft({ kind: 'run.started', agent, input: { messages: [] } }))
        }
        const result = raw === undefined ? { reason: 'not JSON' } : ingest(raw)
        if ('reason' in result) {
          drafts.push(draft({ kind: 'foreign', dialect: 'adk', raw: frame.data, reason: result.reason }))
        } else drafts.push(draft({ kind: 'agent', ...result }))
        failed = false
        return drafts
      },
      end(how) {
        if (!started) return []
        if (how === 'cut') {
          return [
            draft({
              kind: 'run.finished',
              outcome: 'failed',
              error: { code: 'remote-error', message: 'the stream broke off' },
            }),
          ]
        }
        return [draft({ kind: 'run.finished', outcome: failed ? 'failed' : 'done' })]
      },
    }
  },
  encoder() {
    return {
      push({ event }) {
        switch (event.kind) {
          case 'agent':
            return [{ data: JSON.stringify({ ...event.event, timestamp: seconds(event.event.timestamp) }) }]
          case 'foreign':
            return event.dialect === 'adk' ? [{ data: event.raw }] : []
          case 'run.finished':
            return finished(event.outcome, event.error?.message)
          default:
            return []
        }
      },
      prelude: () => [],
    }
  },
}

function finished(outcome: string, error: string | undefined): Frame[] {
  const end: Frame = { comment: `run.finished ${outcome}`, data: '' }
  return outcome === 'failed' ? [{ data: JSON.stringify({ error: error ?? 'failed' }) }, end] : [end]
}

/** adk-web and the seeds read seconds; six digits is what Python writes. */
function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1e6
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
