export {
  type ChatState,
  type ChatStore,
  type ChatStoreOptions,
  type ChatStreamState,
  createChatStore,
} from './chat-store.ts'
export { useChatStore } from './page-store.ts'
export { MillraceProvider, SessionProvider, useClient } from './provider.tsx'
export { type Client, type ClientOptions, createClient, RequestError, type RunHandle } from './session-client.ts'
export type { SessionHandle } from './session-handle.ts'
export type { WireEvent } from './sse-message.ts'
export { type SSEStatus, StreamError } from './sse-stream.ts'
export {
  ChatStoreProvider,
  useAgentStatus,
  useAgentTransitions,
  useDerivedMessages,
  useStatusMessages,
  useThoughts,
} from './use-chat.tsx'
export { type ChatStream, type ChatStreamOptions, useChatStream } from './use-chat-stream.ts'
export { type RunControls, useRun } from './use-run.ts'
export { useConnectionState, useSession } from './use-session.ts'
export { type UseSSEOptions, type UseSSEReturn, useSSE } from './use-sse.ts'
export { type UseViewOptions, useView } from './use-view.ts'
