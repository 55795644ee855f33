import { type Asked, isJsonObject, type Json } from '@millrace/core'
import { useState } from 'react'
import { Button, Pill } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { useActions } from './actions.ts'

/** A person is asked: yes or no for a confirmation, a form or text for the rest, with what it is about. */
export function InterruptForm({ asked }: { readonly asked: Asked }) {
  const { live, pending, answer, given, waiting } = useActions()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const { id, reason, message, payload, status } = asked
  const resolve = (value: Json): void => answer(asked, { interrupt: id, status: 'resolved', payload: value })
  const said = status === 'resolved' ? decision(asked.answer) : undefined
  const submit = (): void => {
    try {
      resolve(text.trim().startsWith('{') || text.trim().startsWith('[') ? (JSON.parse(text) as Json) : text)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <section className={`interrupt ${status}`} data-testid="interrupt">
      <header>
        <Icon name="question" />
        <h3>{message ?? 'The agent is waiting for an answer'}</h3>
        {status === 'resolved' && (
          <Pill tone={said === 'rejected' ? 'bad' : 'ok'}>
            <span data-testid="interrupt-answer">{said ?? 'answered'}</span>
          </Pill>
        )}
        {status === 'cancelled' && <Pill>cancelled</Pill>}
      </header>
      {payload !== undefined && payload !== null && <pre>{JSON.stringify(payload, null, 2)}</pre>}
      {given.has(id) && <p className="faint">Noted. The run goes on when the other {waiting} are answered too.</p>}
      {status === 'open' && live && !given.has(id) && (
        <div className="interrupt-actions">
          {reason === 'confirmation' ? (
            <>
              <Button
                tone="accent"
                icon="check"
                disabled={pending}
                onClick={() => resolve({ confirmed: true })}
                data-testid="interrupt-approve"
              >
                Approve
              </Button>
              <Button
                tone="bad"
                icon="close"
                disabled={pending}
                onClick={() => resolve({ confirmed: false })}
                data-testid="interrupt-reject"
              >
                Reject
              </Button>
            </>
          ) : (
            <>
              <textarea
                aria-label="Your answer"
                rows={2}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
              {problem !== undefined && <p className="bad-text">{problem}</p>}
              <Button
                tone="accent"
                disabled={pending || text.trim() === ''}
                onClick={submit}
                data-testid="interrupt-approve"
              >
                Answer
              </Button>
              <Button
                disabled={pending}
                onClick={() => answer(asked, { interrupt: id, status: 'cancelled' })}
                data-testid="interrupt-reject"
              >
                Cancel
              </Button>
            </>
          )}
        </div>
      )}
      {asked.answer !== undefined && said === undefined && <pre>{JSON.stringify(asked.answer)}</pre>}
    </section>
  )
}

/** Yes or no, where that was the question. */
function decision(answer: Json | undefined): 'approved' | 'rejected' | undefined {
  if (!isJsonObject(answer) || typeof answer.confirmed !== 'boolean') return undefined
  return answer.confirmed ? 'approved' : 'rejected'
}
