import type { LegacyEvent, ParsedAdkEvent } from '@millrace/core'
import { useEffect, useInsertionEffect, useRef, useState } from 'react'
import type { WireEvent } from './sse-message.ts'
import { type SseSettings, type SseState, SseStream } from './sse-stream.ts'

/** What `useSSE` can be told. Callbacks may be new ones with every render: the latest are called. */
export type UseSSEOptions<T> = SseSettings<T>

export interface UseSSEReturn<T> extends SseState<T> {
  /** Opens a stream: a POST with `body` (once, ever), else a GET. The same function for as long as the component lives. */
  readonly connect: (url: string, body?: unknown) => void
  /** Leaves the stream; a run goes on without us. */
  readonly close: () => void
  /** Chooses a snapshot; the last one, or anything beyond, follows the newest again. */
  readonly setCurrentSnapshotIndex: (next: number | ((index: number) => number)) => void
}

/**
 * Reads one event stream. With `canonical` (seed 003's flag) messages are ADK events taken apart, or flattened events;
 * without it, the events of the wire as they are (seeds 000 and 002). `dialect` says which wire it is, so that
 * `snapshots` and `stateKeys` can be folded from it. Nothing reconnects because a component renders.
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
  // In React's own state, beside what the callbacks set: both are rendered in one go.
  const [state, setState] = useState(stream.state)
  // Before every other effect: a child's may call `connect`, and must not send the headers of the render before.
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
