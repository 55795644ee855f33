import { type Asked, isJsonObject, type Json, type JsonObject } from '@millrace/core'
import { useMemo, useState } from 'react'
import { Button, Pill } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { TextBlock } from '../ui/text-block.tsx'
import { useActions } from './actions.ts'
import { decidedWords, reviewOf } from './decisions.ts'
import { DecisionsForm } from './decisions-form.tsx'
import { questionParts } from './question.ts'
import {
  fieldsOfSchema,
  fieldsOfValue,
  objectFromFields,
  type Typed,
  typedFrom,
  ValueFields,
  Values,
} from './value-fields.tsx'

/**
 * A question to the user: decisions on tool calls, approve or reject for a confirmation, typed fields or free text for
 * anything else.
 */
export function InterruptForm({ asked }: { readonly asked: Asked }) {
  const { canRun, answer, given, waiting } = useActions()
  const { id, message, status, reason } = asked
  const resolve = (value: Json): void => answer(asked, { interrupt: id, status: 'resolved', payload: value })
  const cancel = (): void => answer(asked, { interrupt: id, status: 'cancelled' })
  const decided = status === 'resolved' ? (decision(asked.answer) ?? decidedWords(asked.answer)) : undefined
  const review = useMemo(() => reviewOf(asked.payload), [asked.payload])
  const open = status === 'open' && canRun && !given.has(id)
  return (
    <section className={`interrupt ${status}`} data-testid="interrupt" aria-label="Question from the agent">
      <header>
        <Icon name="question" />
        <h3>{message ?? 'The agent is waiting for an answer'}</h3>
        {status === 'resolved' && (
          <Pill tone={decided === 'rejected' ? 'soft' : 'ok'}>
            <span data-testid="interrupt-answer">{decided ?? 'answered'}</span>
          </Pill>
        )}
        {status === 'cancelled' && <Pill>cancelled</Pill>}
      </header>
      {given.has(id) && (
        <p className="faint">
          Answer saved. The run continues once {waiting === 1 ? '1 more question is' : `${waiting} more questions are`}{' '}
          answered.
        </p>
      )}
      {review !== undefined ? (
        <DecisionsForm review={review} open={open} onAnswer={resolve} />
      ) : reason === 'confirmation' ? (
        <Confirmation asked={asked} open={open} onAnswer={resolve} />
      ) : (
        <Question asked={asked} open={open} onAnswer={resolve} onCancel={cancel} />
      )}
      {asked.answer !== undefined && decided === undefined && (
        <TextBlock label="Answer">{printed(asked.answer)}</TextBlock>
      )}
    </section>
  )
}

interface AnswerProps {
  readonly asked: Asked
  readonly open: boolean
  readonly onAnswer: (value: Json) => void
}

/** Asks whether the agent may call a tool with these arguments: approve, reject, or approve with edited arguments. */
function Confirmation({ asked, open, onAnswer }: AnswerProps) {
  const { pending } = useActions()
  const { tool, args } = callOf(asked.payload)
  const fields = useMemo(() => fieldsOfValue(args), [args])
  const [typed, setTyped] = useState(() => typedFrom(fields))
  const [editing, setEditing] = useState(false)
  const [problem, setProblem] = useState<string>()
  const type = (next: Typed): void => {
    setProblem(undefined)
    setTyped(next)
  }
  const approve = (): void => {
    const made = objectFromFields(fields, typed)
    if (!editing) onAnswer({ confirmed: true })
    else if ('error' in made) setProblem(made.error)
    else onAnswer({ confirmed: true, args: made.value })
  }
  return (
    <>
      {tool !== undefined && (
        <div className="asked-call">
          <p>
            <Icon name="tool" size={14} /> <code>{tool}</code>
            {fields.length === 0 && <span className="faint"> no arguments</span>}
          </p>
          {editing ? <ValueFields fields={fields} typed={typed} onChange={type} /> : <Values fields={fields} />}
        </div>
      )}
      {tool === undefined && asked.payload !== undefined && asked.payload !== null && (
        <TextBlock label="Details">{JSON.stringify(asked.payload, null, 2)}</TextBlock>
      )}
      {problem !== undefined && (
        <p className="bad-text" role="alert">
          {problem}
        </p>
      )}
      {open && (
        <div className="interrupt-actions">
          <Button tone="accent" icon="check" disabled={pending} onClick={approve} data-testid="interrupt-approve">
            {editing ? 'Approve with changes' : 'Approve'}
          </Button>
          <Button
            tone="bad"
            icon="close"
            disabled={pending}
            onClick={() => onAnswer({ confirmed: false })}
            data-testid="interrupt-reject"
          >
            Reject
          </Button>
          {fields.length > 0 && (
            <Button
              icon="pencil"
              disabled={pending}
              aria-pressed={editing}
              onClick={() => {
                setProblem(undefined)
                setTyped(typedFrom(fields))
                setEditing(!editing)
              }}
              data-testid="interrupt-edit"
            >
              {editing ? 'Discard changes' : 'Edit arguments'}
            </Button>
          )}
        </div>
      )}
    </>
  )
}

const printed = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** Any other question: fields if the agent sent a schema, otherwise the answers that it offers, and free text or JSON. */
function Question({ asked, open, onAnswer, onCancel }: AnswerProps & { readonly onCancel: () => void }) {
  const { pending } = useActions()
  const fields = useMemo(() => fieldsOfSchema(asked.schema), [asked.schema])
  const { details, choices } = useMemo(
    () => questionParts(asked.payload, asked.message, fields === undefined),
    [asked, fields],
  )
  const [typed, setTyped] = useState(() => typedFrom(fields ?? []))
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const submit = (): void => {
    const made = fields === undefined ? readText(text) : objectFromFields(fields, typed)
    if ('error' in made) setProblem(made.error)
    else onAnswer(made.value)
  }
  return (
    <>
      {details !== undefined && <Details details={details} />}
      {/* What was offered can still be read once the question is answered. */}
      {choices.length > 0 && (
        <div className="interrupt-actions">
          {choices.map((choice) => (
            <Button
              key={choice}
              disabled={pending || !open}
              onClick={() => onAnswer(choice)}
              data-testid="interrupt-choice"
            >
              {choice}
            </Button>
          ))}
        </div>
      )}
      {open && (
        <>
          {fields === undefined ? (
            <textarea
              aria-label="Your answer"
              placeholder={choices.length > 0 ? 'Or write another answer' : 'Your answer'}
              rows={2}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          ) : (
            <ValueFields
              fields={fields}
              typed={typed}
              onChange={(next) => {
                setProblem(undefined)
                setTyped(next)
              }}
            />
          )}
          {problem !== undefined && (
            <p className="bad-text" role="alert">
              {problem}
            </p>
          )}
          <div className="interrupt-actions">
            <Button
              tone="accent"
              icon="check"
              disabled={pending || (fields === undefined && text.trim() === '')}
              onClick={submit}
              data-testid="interrupt-approve"
            >
              Answer
            </Button>
            <Button disabled={pending} onClick={onCancel} data-testid="interrupt-reject">
              Cancel
            </Button>
          </div>
        </>
      )}
    </>
  )
}

function Details({ details }: { readonly details: Json }) {
  if (!isJsonObject(details)) return <TextBlock label="Details">{printed(details)}</TextBlock>
  return (
    <div className="asked-call">
      <Values fields={fieldsOfValue(details)} />
    </div>
  )
}

const noArgs: JsonObject = {}

function callOf(payload: Json | undefined): { readonly tool: string | undefined; readonly args: JsonObject } {
  if (!isJsonObject(payload) || typeof payload.tool !== 'string') return { tool: undefined, args: noArgs }
  return { tool: payload.tool, args: isJsonObject(payload.args) ? payload.args : noArgs }
}

function readText(text: string): { readonly value: Json } | { readonly error: string } {
  if (!/^\s*[[{]/.test(text)) return { value: text.trim() }
  try {
    return { value: JSON.parse(text) as Json }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** The decision, if the question was a confirmation. */
function decision(answer: Json | undefined): 'approved' | 'rejected' | 'approved, edited' | undefined {
  if (!isJsonObject(answer) || typeof answer.confirmed !== 'boolean') return undefined
  if (!answer.confirmed) return 'rejected'
  return isJsonObject(answer.args) ? 'approved, edited' : 'approved'
}
