import {
  type AdkChatEvent,
  type AgentTransition,
  adk,
  type Connection,
  type ConnectionState,
  type connect,
  type DerivedMessage,
  type Frame,
  type Item,
  itemsOf,
  type LegacyEvent,
  type LiveLog,
  millrace,
  type ParsedAdkEvent,
  type RawAdkEvent,
  type Recorded,
  type StateSnapshot,
  type Transcript,
  transcriptView,
} from '@millrace/core'
import { describe, expectTypeOf, test } from 'vitest'
import {
  type ChatStore,
  type createChatStore,
  type createClient,
  type RunControls,
  type SessionHandle,
  type useAgentStatus,
  type useAgentTransitions,
  type useDerivedMessages,
  useRun,
  type useSession,
  useSSE,
  type useThoughts,
  useView,
  type WireEvent,
} from './index.ts'
import type { StreamError } from './sse-stream.ts'

// Checked by `tsc -p tsconfig.test.json`. Hooks are called in components that are never rendered.
interface ChatEvent {
  type: 'content' | 'done'
  content: string
}

describe('types of the public API', () => {
  test('useSSE infers the type of its messages', () => {
    const component = (flag: boolean) => {
      expectTypeOf(useSSE().lastEvent).toEqualTypeOf<WireEvent | undefined>()
      expectTypeOf(useSSE<ChatEvent>({}).lastEvent).toEqualTypeOf<ChatEvent | undefined>()
      useSSE<ChatEvent>({
        onMessage: (event, frame) => {
          expectTypeOf(event).toEqualTypeOf<ChatEvent>()
          expectTypeOf(frame).toEqualTypeOf<Frame>()
        },
      })
      useSSE({
        canonical: true,
        dialect: adk,
        onMessage: (event) => expectTypeOf(event).toEqualTypeOf<ParsedAdkEvent>(),
      })
      useSSE({ canonical: false, onMessage: (event) => expectTypeOf(event).toEqualTypeOf<LegacyEvent>() })
      useSSE({
        canonical: flag,
        onMessage: (event) => expectTypeOf(event).toEqualTypeOf<ParsedAdkEvent | LegacyEvent>(),
      })
      // @ts-expect-error this option does not exist
      useSSE({ onMesage: () => {} })
      // @ts-expect-error the flag determines the message type
      useSSE<ChatEvent>({ canonical: true })
      const { connect: open, close, status, snapshots, currentSnapshotIndex, setCurrentSnapshotIndex } = useSSE()
      const { stateKeys, error } = useSSE()
      expectTypeOf(open).toEqualTypeOf<(url: string, body?: unknown) => void>()
      expectTypeOf(close).toEqualTypeOf<() => void>()
      expectTypeOf(status).toEqualTypeOf<'idle' | 'connecting' | 'open' | 'waiting' | 'closed'>()
      expectTypeOf(snapshots).toEqualTypeOf<StateSnapshot[]>()
      expectTypeOf(currentSnapshotIndex).toEqualTypeOf<number>()
      expectTypeOf(setCurrentSnapshotIndex).parameter(0).toEqualTypeOf<number | ((index: number) => number)>()
      expectTypeOf(stateKeys).toEqualTypeOf<Map<string, string[]>>()
      expectTypeOf(error).toEqualTypeOf<StreamError | undefined>()
    }
    expectTypeOf(component).toBeFunction()
  })

  test('useView returns the view, or the selected part', () => {
    const component = (log: LiveLog) => {
      expectTypeOf(useView(log, transcriptView)).toEqualTypeOf<Transcript>()
      expectTypeOf(useView(transcriptView)).toEqualTypeOf<Transcript>()
      expectTypeOf(useView(transcriptView, { select: itemsOf })).toEqualTypeOf<readonly Item[]>()
      expectTypeOf(useView(log, transcriptView, { at: 3, select: ({ open }) => open.length })).toEqualTypeOf<number>()
      // @ts-expect-error a log is not a view
      useView(log)
      expectTypeOf(useRun()).toEqualTypeOf<RunControls>()
      expectTypeOf(useRun('session', 'agent')).toEqualTypeOf<RunControls>()
      // @ts-expect-error the agent is missing
      useRun('session')
    }
    expectTypeOf(component).toBeFunction()
    expectTypeOf<typeof useSession>().returns.toEqualTypeOf<SessionHandle>()
    expectTypeOf<ReturnType<typeof createClient>['session']>().toEqualTypeOf<(id: string) => SessionHandle>()
  })

  test('the chat store', () => {
    expectTypeOf<typeof createChatStore>().returns.toEqualTypeOf<ChatStore>()
    type State = ReturnType<ChatStore['getState']>
    expectTypeOf<State['addRawEvent']>().toEqualTypeOf<(sessionId: string, event: RawAdkEvent) => void>()
    expectTypeOf<State['getRawEvents']>().returns.toEqualTypeOf<AdkChatEvent[]>()
    expectTypeOf<State['getDerivedMessages']>().returns.toEqualTypeOf<DerivedMessage[]>()
    expectTypeOf<State['sessions'][string]['agentTransitionHistory']>().toEqualTypeOf<AgentTransition[]>()
    expectTypeOf<typeof useDerivedMessages>().returns.toEqualTypeOf<DerivedMessage[]>()
    expectTypeOf<typeof useThoughts>().returns.toEqualTypeOf<Record<string, string>>()
    expectTypeOf<typeof useAgentTransitions>().returns.toEqualTypeOf<AgentTransition[]>()
    expectTypeOf<typeof useAgentStatus>().returns.toEqualTypeOf<Record<string, 'active' | 'idle'>>()
  })

  test('connect returns an async iterable of rows with a state', () => {
    expectTypeOf<typeof connect>().returns.toEqualTypeOf<Connection>()
    expectTypeOf<Connection>().toExtend<AsyncIterable<Recorded>>()
    expectTypeOf<ConnectionState['phase']>().toEqualTypeOf<'connecting' | 'open' | 'waiting' | 'closed'>()
    expectTypeOf<Extract<ConnectionState, { phase: 'closed' }>['how']>().toEqualTypeOf<
      'ended' | 'cut' | 'refused' | 'aborted'
    >()
    expectTypeOf<Parameters<typeof connect>[1]>().toHaveProperty('host')
    expectTypeOf(millrace).toExtend<Parameters<typeof connect>[1]['dialect']>()
  })
})
