import { type Dialect, type Draft, isJsonObject, parseJson } from '@millrace/core'

/** Event types that end a stream. A Studio `trace` frame whose JSON has such a type is only one step, not the end. */
const endings: ReadonlySet<unknown> = new Set(['done', 'end', 'RUN_FINISHED', 'RUN_ERROR', '[DONE]'])

/**
 * The dialect of a stream for which the caller named none. It yields no events for the views, only the end of the run.
 * An orderly close counts as the end, because such a stream may have no other; half a frame or a broken connection does
 * not.
 */
export const plainDialect: Dialect = {
  name: 'plain',
  decoder: ({ run }) => {
    let over = false
    const finished = (outcome: 'done' | 'failed'): readonly Draft[] => {
      if (over) return []
      over = true
      return [{ run, event: { kind: 'run.finished', outcome } }]
    }
    return {
      session: undefined,
      push: ({ event = 'message', data }) =>
        endings.has(event === 'message' ? typeIn(data) : event) ? finished('done') : [],
      end: (how) => finished(how === 'closed' ? 'done' : 'failed'),
    }
  },
  encoder: () => ({ push: () => [], prelude: () => [] }),
  recognises: () => false,
}

function typeIn(data: string): unknown {
  if (data === '[DONE]') return data
  const parsed = parseJson(data)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value.type : undefined
}
