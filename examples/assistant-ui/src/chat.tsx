import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  AuiConfig,
  AuiIf,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
  Tools,
} from '@assistant-ui/react'
import {
  useAgUiInterrupts,
  useAgUiRuntime,
  useAgUiSetState,
  useAgUiState,
  useAgUiSubmitInterruptResponses,
} from '@assistant-ui/react-ag-ui'
import { useMemo, useState } from 'react'
import { agentName, disconnect, isReopened, threadId } from './address.ts'
import { MillraceAgent } from './millrace-agent.ts'
import { toolkit } from './toolkit.tsx'

export function Chat() {
  const [error, setError] = useState('')
  const url = `/ag-ui/${agentName}?disconnect=${disconnect}`
  const agent = useMemo(() => new MillraceAgent({ url, threadId }), [url])
  const runtime = useAgUiRuntime({
    agent,
    onError: ({ message }) => setError(message),
    ...(isReopened ? { adapters: { history: agent.history } } : {}),
  })
  return (
    <AssistantRuntimeProvider runtime={runtime} config={AuiConfig({ tools: Tools({ toolkit }) })}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport>
          <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
          <Questions />
        </ThreadPrimitive.Viewport>
        {error === '' ? null : <p role="alert">{error}</p>}
        <Composer />
      </ThreadPrimitive.Root>
      <SharedState />
    </AssistantRuntimeProvider>
  )
}

function UserMessage() {
  return (
    <MessagePrimitive.Root asChild>
      <article data-role="user">
        <MessagePrimitive.Parts />
      </article>
    </MessagePrimitive.Root>
  )
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root asChild>
      <article data-role="assistant">
        <MessagePrimitive.Parts components={{ Text: Words, Reasoning: Thought, tools: { Fallback: ToolCard } }} />
        <ActionBarPrimitive.Root hideWhenRunning>
          <ActionBarPrimitive.Reload>Regenerate</ActionBarPrimitive.Reload>
        </ActionBarPrimitive.Root>
      </article>
    </MessagePrimitive.Root>
  )
}

const Words = ({ text }: { text: string }) => <p>{text}</p>

const Thought = ({ text }: { text: string }) => <em>{text}</em>

const ToolCard = ({ toolName, status }: ToolCallMessagePartProps) => <code>{`${toolName}: ${status.type}`}</code>

/** The questions of the agent, which stop a run until a person answers. */
function Questions() {
  const interrupts = useAgUiInterrupts()
  const submit = useAgUiSubmitInterruptResponses()
  const answer = (approved: boolean) =>
    submit(interrupts.map(({ id }) => ({ interruptId: id, status: 'resolved', payload: { approved } })))
  if (interrupts.length === 0) return null
  return (
    <fieldset>
      <legend>{interrupts.map(({ message }) => message).join(' ')}</legend>
      <button type="button" onClick={() => answer(true)}>
        Approve
      </button>
      <button type="button" onClick={() => answer(false)}>
        Reject
      </button>
    </fieldset>
  )
}

function Composer() {
  return (
    <ComposerPrimitive.Root>
      <ComposerPrimitive.Input aria-label="Message" autoFocus />
      <AuiIf condition={({ thread }) => !thread.isRunning}>
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
      </AuiIf>
      <AuiIf condition={({ thread }) => thread.isRunning}>
        <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
      </AuiIf>
    </ComposerPrimitive.Root>
  )
}

/** The state that the agent and this page share: both may change it. */
function SharedState() {
  const state = useAgUiState<{ notes?: string[] }>()
  const setState = useAgUiSetState<{ notes?: string[] }>()
  return (
    <aside>
      <h2>State</h2>
      <pre>{JSON.stringify(state, null, 2)}</pre>
      <button type="button" onClick={() => setState((before) => ({ ...before, notes: [] }))}>
        Clear notes
      </button>
    </aside>
  )
}
