import { type Dialect, type Draft, isJsonObject, parseJson } from '@millrace/core'

/** The names under which streams say that they are over. A trace of that type is one step of a Studio stream, no end. */
const endings: ReadonlySet<unknown> = new Set(['done', 'end', 'RUN_FINISHED', 'RUN_ERROR', '[DONE]'])

/**
 * A wire that nobody named: nothing is read from it for the views, only where it ends. An orderly close is an end, for
 * such a stream has no other; half a frame or a broken connection is not.
 */
export const plain: Dialect = {
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
