import { type StreamChunk, toolDefinition } from '@tanstack/ai'
import { type UIMessage, useChat } from '@tanstack/ai-react'
import { type SyntheticEvent, useMemo, useState } from 'react'
import { z } from 'zod'
import { agentName, disconnect, isReopened, threadId } from './address.ts'
import { millraceConnection } from './millrace-connection.ts'

/** A tool that runs in this page by itself. */
const pickSize = toolDefinition({
  name: 'pick_size',
  description: 'The size of the window of the user',
  inputSchema: z.object({}),
}).client(() => (innerWidth > 600 ? 'large' : 'small'))

/** A tool that the user answers. */
const pickColour = toolDefinition({
  name: 'pick_colour',
  description: 'Ask the user for a colour',
  inputSchema: z.object({ of: z.string() }),
})

export function Chat() {
  const [state, setState] = useState<unknown>({})
  const connection = useMemo(
    () => millraceConnection(`${agentName}?disconnect=${disconnect}`, threadId, ['pick_size']),
    [],
  )
  const { messages, sendMessage, reload, stop, isLoading, error, interrupts, addToolResult } = useChat({
    threadId,
    connection,
    tools: [pickSize, pickColour.client()],
    persistence: isReopened ? true : undefined,
    onChunk: (chunk: StreamChunk) => {
      if (chunk.type === 'STATE_SNAPSHOT') setState(chunk.snapshot)
    },
  })
  const pick = (toolCallId: string, output: string) => addToolResult({ toolCallId, tool: 'pick_colour', output })
  return (
    <>
      <main>
        {messages.map((message) => (
          <Row key={message.id} message={message} pick={pick} />
        ))}
        {interrupts.map((question) => (
          <fieldset key={question.id}>
            <legend>{question.message}</legend>
            {question.kind === 'generic' && (
              <>
                <button type="button" onClick={() => question.resolveInterrupt({ approved: true })}>
                  Approve
                </button>
                <button type="button" onClick={() => question.resolveInterrupt({ approved: false })}>
                  Reject
                </button>
              </>
            )}
          </fieldset>
        ))}
        {error === undefined ? null : <p role="alert">{error.message}</p>}
      </main>
      <Composer isLoading={isLoading} send={sendMessage} stop={stop} />
      {messages.length > 0 && !isLoading && (
        <button type="button" onClick={() => reload()}>
          Regenerate
        </button>
      )}
      <aside>
        <h2>State</h2>
        <pre>{JSON.stringify(state, null, 2)}</pre>
      </aside>
    </>
  )
}

function Row({ message, pick }: { message: UIMessage; pick: (toolCallId: string, colour: string) => void }) {
  return (
    <article data-role={message.role}>
      {message.parts.map((part, at) => {
        const key = `${message.id} ${at}`
        if (part.type === 'text') return <p key={key}>{part.content}</p>
        if (part.type === 'thinking') return <em key={key}>{part.content}</em>
        if (part.type !== 'tool-call') return null
        if (part.name !== 'pick_colour' || part.output !== undefined)
          return <code key={key}>{`${part.name}: ${part.state}`}</code>
        return (
          <fieldset key={key}>
            <legend>Colour</legend>
            {['blue', 'green'].map((colour) => (
              <button type="button" key={colour} onClick={() => pick(part.id, colour)}>
                {colour}
              </button>
            ))}
          </fieldset>
        )
      })}
    </article>
  )
}

function Composer(props: { isLoading: boolean; send: (text: string) => Promise<void>; stop: () => void }) {
  const [text, setText] = useState('')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    void props.send(text)
    setText('')
  }
  return (
    <form onSubmit={submit}>
      <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
      {props.isLoading ? (
        <button type="button" onClick={props.stop}>
          Stop
        </button>
      ) : (
        <button type="submit">Send</button>
      )}
    </form>
  )
}
