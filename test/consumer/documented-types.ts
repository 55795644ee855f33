// The types as the documents of the chat front end and of ADK Studio's stream write them (docs/requirements.md, R3 and
// R0), so that the compiler holds ours to them. Arrays are mutable there.

export interface AdkFunctionCall {
  name: string
  args: Record<string, unknown>
  id: string
}

export interface AdkFunctionResponse {
  name: string
  response: Record<string, unknown>
  id: string
}

export interface AdkCodeExecutionResult {
  outcome: string
  output?: string
}

export type AdkPart =
  | { text: string; thought?: boolean }
  | { functionCall: AdkFunctionCall }
  | { functionResponse: AdkFunctionResponse }
  | { codeExecutionResult: AdkCodeExecutionResult }

export interface AdkContent {
  parts?: AdkPart[]
  role?: 'user' | 'model'
}

export interface AdkEventActions {
  skip_summarization?: boolean
  transfer_to_agent?: string
  [key: string]: unknown
}

export interface AdkEvent {
  id: string
  author: string
  invocationId: string
  timestamp: number
  content?: AdkContent
  actions?: AdkEventActions
  longRunningToolIds?: string[]
  branch?: string
  partial?: boolean
}

/** `rawEvent` is left out: events have more kinds of parts and roles than the document names. */
export interface ParsedAdkEvent {
  messageId: string
  author: string
  textParts: string[]
  thoughtParts: string[]
  functionCalls: AdkFunctionCall[]
  functionResponses: AdkFunctionResponse[]
  isAgentTransfer: boolean
  transferTargetAgent?: string
  isFinalResponse: boolean
}

export interface SseEventBlock {
  event?: string
  id?: string
  data: string
  retry?: number
}

export interface NormalizeResult {
  success: boolean
  event?: ParsedAdkEvent
  error?: string
}

export interface AgentTransition {
  fromAgent: string
  toAgent: string
  eventId: string
  timestamp: string
}

export interface ChatSession {
  id: string
  rawEvents: AdkEvent[]
  lastProcessedEventId?: string
  agentTransitionHistory: AgentTransition[]
}

export interface DerivedMessage {
  id: string
  content: string
  role: 'user' | 'assistant' | 'system'
  timestamp: string
  sessionId: string
  sourceEventIds: string[]
  derivedFrom: 'text' | 'functionResponse' | 'agentStatus'
}

export interface TraceEvent {
  type: 'node_start' | 'node_end' | 'state' | 'done'
  node?: string
  step?: number
  duration_ms?: number
  state_snapshot?: { input: Record<string, unknown>; output: Record<string, unknown> }
  state_keys?: string[]
}

export interface StateSnapshot {
  nodeId: string
  timestamp: number
  inputState: Record<string, unknown>
  outputState: Record<string, unknown>
  duration: number
  status: 'running' | 'success' | 'error'
  error?: string
}

export interface UseSSEReturn {
  snapshots: StateSnapshot[]
  currentSnapshotIndex: number
  stateKeys: Map<string, string[]>
}
