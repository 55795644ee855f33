import type { Json, JsonObject } from '@millrace/core'
import { useMemo, useState } from 'react'
import { Button } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { useActions } from './actions.ts'
import { answerOf, type Decision, type DecisionType, type Review, type ReviewedAction } from './decisions.ts'
import {
  fieldsOfSchema,
  fieldsOfValue,
  objectFromFields,
  type Typed,
  typedFrom,
  ValueFields,
  Values,
} from './value-fields.tsx'

interface DecisionsProps {
  readonly review: Review
  readonly open: boolean
  readonly onAnswer: (value: Json) => void
}

/** Tool calls that wait for a person: for each one the decisions that its author allows. */
export function DecisionsForm({ review, open, onAnswer }: DecisionsProps) {
  const { pending } = useActions()
  const { actions } = review
  const [made, setMade] = useState<readonly (Decision | { readonly error: string } | undefined)[]>([])
  const [problem, setProblem] = useState<string>()
  const set = (at: number, decision: Decision | { readonly error: string }): void => {
    setProblem(undefined)
    const next = actions.map((_, i) => (i === at ? decision : made[i]))
    setMade(next)
    // One call, approved as it is, needs no second click.
    if (actions.length === 1 && 'type' in decision && decision.type === 'approve') send(next)
  }
  const send = (decisions = made): void => {
    const ready = decisions.filter((decision) => decision !== undefined)
    const wrong = ready.find((decision) => 'error' in decision)
    if (wrong !== undefined) setProblem(wrong.error)
    else if (ready.length < actions.length) setProblem('Choose a decision for each call')
    else
      onAnswer(
        answerOf(
          review,
          ready.filter((decision) => 'type' in decision),
        ),
      )
  }
  return (
    <>
      {actions.map((action, i) => (
        // The actions of a question never change their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: two actions may be equal
        <ActionReview key={i} action={action} open={open} onDecide={(decision) => set(i, decision)} />
      ))}
      {problem !== undefined && (
        <p className="bad-text" role="alert">
          {problem}
        </p>
      )}
      {open && made.some((decision) => decision !== undefined) && (
        <div className="interrupt-actions">
          <Button tone="accent" icon="check" disabled={pending} onClick={() => send()} data-testid="interrupt-send">
            {actions.length === 1 ? 'Send decision' : 'Send decisions'}
          </Button>
        </div>
      )}
    </>
  )
}

const labels = {
  approve: ['Approve', 'check'],
  edit: ['Edit arguments', 'pencil'],
  reject: ['Reject', 'close'],
  respond: ['Answer instead', 'question'],
} as const

/** Approve invites until something is chosen; then the choice is what is drawn. */
function toneOf(type: DecisionType, chosen: DecisionType | undefined): 'accent' | 'bad' | 'plain' {
  if (type === 'reject') return 'bad'
  return type === 'approve' && chosen === undefined ? 'accent' : 'plain'
}

interface ActionProps {
  readonly action: ReviewedAction
  readonly open: boolean
  readonly onDecide: (decision: Decision | { readonly error: string }) => void
}

function ActionReview({ action, open, onDecide }: ActionProps) {
  const { pending } = useActions()
  const { name, args, description, allowed, schema } = action
  const fields = useMemo(() => fieldsOfSchema(schema, args) ?? fieldsOfValue(args), [schema, args])
  const [typed, setTyped] = useState<Typed>(() => typedFrom(fields))
  const [chosen, setChosen] = useState<DecisionType>()
  const [message, setMessage] = useState('')
  const edited = (next: Typed): Decision | { readonly error: string } => {
    const made = objectFromFields(fields, next)
    return 'error' in made ? { error: `${name}: ${made.error}` } : { type: 'edit', args: made.value as JsonObject }
  }
  const choose = (type: DecisionType): void => {
    setChosen(type)
    onDecide(type === 'edit' ? edited(typed) : { type, message })
  }
  return (
    <div className="asked-call">
      <p>
        <Icon name="tool" size={14} /> <code>{name}</code>
        {fields.length === 0 && <span className="faint"> no arguments</span>}
      </p>
      {description !== undefined && <p className="faint">{description}</p>}
      {open && chosen === 'edit' ? (
        <ValueFields
          fields={fields}
          typed={typed}
          onChange={(next) => {
            setTyped(next)
            onDecide(edited(next))
          }}
        />
      ) : (
        <Values fields={fields} />
      )}
      {open && (
        <div className="interrupt-actions">
          {allowed.map((type) => (
            <Button
              key={type}
              tone={toneOf(type, chosen)}
              icon={labels[type][1]}
              disabled={pending || (type === 'edit' && fields.length === 0)}
              aria-pressed={chosen === type}
              onClick={() => choose(type)}
              data-testid={`interrupt-${type}`}
            >
              {labels[type][0]}
            </Button>
          ))}
        </div>
      )}
      {open && (chosen === 'reject' || chosen === 'respond') && (
        <textarea
          aria-label={chosen === 'reject' ? `Why ${name} is rejected (optional)` : `The answer in place of ${name}`}
          placeholder={chosen === 'reject' ? 'Why (optional)' : 'The answer that the agent gets'}
          rows={2}
          value={message}
          onChange={(event) => {
            setMessage(event.target.value)
            onDecide({ type: chosen, message: event.target.value })
          }}
        />
      )}
    </div>
  )
}
