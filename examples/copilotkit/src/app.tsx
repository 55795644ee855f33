import {
  CopilotChat,
  CopilotKit,
  useAgent,
  useCopilotKit,
  useDefaultRenderTool,
  useFrontendTool,
  useHumanInTheLoop,
  useInterrupt,
} from '@copilotkit/react-core/v2'
import { z } from 'zod'
import { agentName, threadId } from './address.ts'

export function App() {
  return (
    <CopilotKit runtimeUrl="/api/copilotkit" useSingleEndpoint={false} agentId={agentName}>
      <Tools />
      <main>
        <Conversation />
        <SharedState />
      </main>
    </CopilotKit>
  )
}

/** The chat of CopilotKit, with its button to regenerate an answer. */
function Conversation() {
  const { copilotkit } = useCopilotKit()
  const { agent } = useAgent({ agentId: agentName })
  const onRegenerate = ({ id }: { id: string }) => {
    const answer = agent.messages.findIndex((message) => message.id === id)
    const question = agent.messages.findLastIndex(({ role }, at) => role === 'user' && at < answer)
    agent.setMessages(agent.messages.slice(0, question + 1))
    void copilotkit.runAgent({ agent })
  }
  return <CopilotChat agentId={agentName} threadId={threadId} messageView={{ assistantMessage: { onRegenerate } }} />
}

/** Tools that run in this page, questions that a person answers here, and a card for every other tool. */
function Tools() {
  useFrontendTool({
    name: 'pick_size',
    description: 'The size of the window of the user',
    parameters: z.object({}),
    handler: async () => (innerWidth > 600 ? 'large' : 'small'),
  })
  useHumanInTheLoop({
    name: 'pick_colour',
    description: 'Ask the user for a colour',
    parameters: z.object({ of: z.string() }),
    render: ({ args, respond, result }) => (
      <fieldset>
        <legend>Colour of the {args.of}</legend>
        {respond === undefined
          ? result
          : ['blue', 'green'].map((colour) => (
              <button type="button" key={colour} onClick={() => respond(colour)}>
                {colour}
              </button>
            ))}
      </fieldset>
    ),
  })
  useInterrupt({
    agentId: agentName,
    render: ({ interrupt, resolve }) => (
      <fieldset>
        <legend>{interrupt?.message}</legend>
        <button type="button" onClick={() => resolve({ approved: true })}>
          Approve
        </button>
        <button type="button" onClick={() => resolve({ approved: false })}>
          Reject
        </button>
      </fieldset>
    ),
  })
  useDefaultRenderTool({ render: ({ name, status }) => <code>{`${name}: ${status}`}</code> })
  return null
}

/** The state that the agent and this page share: both may change it. */
function SharedState() {
  const { agent } = useAgent({ agentId: agentName })
  return (
    <aside aria-busy={agent.isRunning}>
      <h2>State</h2>
      <pre>{JSON.stringify(agent.state, null, 2)}</pre>
      <button type="button" onClick={() => agent.setState({ ...agent.state, notes: [] })}>
        Clear notes
      </button>
    </aside>
  )
}
