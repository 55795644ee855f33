import type { LegacyEvent, ParsedAdkEvent } from '@millrace/core'
import { useEffect, useInsertionEffect, useRef, useState } from 'react'
import type { WireEvent } from './sse-message.ts'
import { type SseSettings, type SseState, SseStream } from './sse-stream.ts'

/** The options of `useSSE`. Callbacks may change with every render: the latest ones are called. */
export type UseSSEOptions<T = WireEvent> = SseSettings<T>

export interface UseSSEReturn<T = WireEvent> extends SseState<T> {
  /** Opens a stream: a POST if there is a `body` (sent only once), otherwise a GET. Stable while the component lives. */
  readonly connect: (url: string, body?: unknown) => void
  /** Closes the stream. The run continues. */
  readonly close: () => void
  /** Selects a snapshot. The last one, or any index beyond it, follows the newest again. */
  readonly setCurrentSnapshotIndex: (next: number | ((index: number) => number)) => void
}

/**
 * Reads one event stream. With `canonical: true` messages are parsed ADK events, with `canonical: false` flattened
 * events, and without it the events of the wire as they are. `dialect` names the wire, so that `snapshots` and
 * `stateKeys` can be folded from it. A render never causes a reconnect.
 */
export function useSSE(
  options: UseSSEOptions<ParsedAdkEvent> & { readonly canonical: true },
): UseSSEReturn<ParsedAdkEvent>
export function useSSE(options: UseSSEOptions<LegacyEvent> & { readonly canonical: false }): UseSSEReturn<LegacyEvent>
export function useSSE(
  options: UseSSEOptions<ParsedAdkEvent | LegacyEvent> & { readonly canonical: boolean },
): UseSSEReturn<ParsedAdkEvent | LegacyEvent>
export function useSSE<T = WireEvent>(options?: UseSSEOptions<T> & { readonly canonical?: undefined }): UseSSEReturn<T>
export function useSSE<T>(options: UseSSEOptions<T> = {}): UseSSEReturn<T> {
  const latest = useRef(options)
  const [stream] = useState(() => new SseStream<T>(() => latest.current))
  // In React state, like what the callbacks set, so that both are rendered together.
  const [state, setState] = useState(stream.state)
  // Runs before all other effects: an effect of a child may call `connect`, which must use the headers of this render.
  useInsertionEffect(() => {
    latest.current = options
  }, [options])
  useEffect(() => {
    setState(stream.state)
    return stream.attach(setState)
  }, [stream])
  useEffect(() => stream.committed(state), [stream, state])
  const { connect, close, setCurrentSnapshotIndex } = stream
  return { ...state, connect, close, setCurrentSnapshotIndex }
}
