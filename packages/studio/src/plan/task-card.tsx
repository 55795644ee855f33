import type { PlanTask } from '@millrace/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Button, IconButton, Pill } from '../ui/controls.tsx'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { MarkdownText } from '../ui/markdown.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { taskWords, wordTones } from '../ui/state-word.ts'
import type { TaskActions } from './task-actions.ts'

interface TaskCardProps {
  readonly task: PlanTask
  readonly active: boolean
  readonly actions: TaskActions
  readonly editable: boolean
}

/** One task with its status; its result and tool calls when it is opened. */
export function TaskCard({ task, active, actions, editable }: TaskCardProps) {
  const [editing, setEditing] = useState(false)
  if (editing) return <TaskForm task={task} actions={actions} onDone={() => setEditing(false)} />
  const { id, title, description, status, result, reflection, startedAt, finishedAt } = task
  const settled = status === 'done' || status === 'failed'
  // Those of an attempt that a crash cut off were made again.
  const calls = task.calls.toArray().filter(({ superseded }) => superseded !== true)
  const detail = (result ?? '') !== '' || (reflection ?? '') !== '' || calls.length > 0
  return (
    <div className={`task ${status} ${active ? 'active' : ''}`}>
      <div className="task-line">
        <span className="task-mark" aria-hidden="true">
          {status === 'done' && <Icon name="check" size={11} />}
          {status === 'failed' && <Icon name="close" size={11} />}
        </span>
        <b>{title === '' ? id : title}</b>
        <span className="spacer" />
        {startedAt !== undefined && finishedAt !== undefined && (
          <span className="number faint task-time">{duration(finishedAt - startedAt)}</span>
        )}
        <Pill tone={wordTones[taskWords[status]]}>{taskWords[status]}</Pill>
        {editable && (
          <span className="task-actions">
            {settled && <IconButton icon="retry" label={`Retry ${title}`} onClick={() => actions.retry(id)} />}
            <IconButton icon="pencil" label={`Edit ${title}`} onClick={() => setEditing(true)} />
            <IconButton icon="trash" label={`Delete ${title}`} onClick={() => actions.remove(id)} />
          </span>
        )}
      </div>
      {description !== undefined && description !== '' && <p className="task-description">{description}</p>}
      {detail && (
        <details>
          <summary>
            {[
              result === undefined ? '' : 'Result',
              calls.length === 0 ? '' : `${calls.length} tool ${calls.length === 1 ? 'call' : 'calls'}`,
            ]
              .filter((text) => text !== '')
              .join(' · ') || 'Reflection'}
          </summary>
          {result !== undefined && <MarkdownText text={result} />}
          <ul className="task-calls">
            {calls.map((call) => (
              <li key={call.seq + (call.id ?? call.name)}>
                <Icon name="tool" size={12} /> <code>{call.name}</code> <SeqLink seq={call.seq} />
                {call.answered !== undefined && <SeqLink seq={call.answered}>→ #{call.answered}</SeqLink>}
              </li>
            ))}
          </ul>
          {reflection !== undefined && reflection !== '' && <p className="faint">{reflection}</p>}
        </details>
      )}
    </div>
  )
}

function TaskForm({
  task,
  actions,
  onDone,
}: {
  readonly task: PlanTask
  readonly actions: TaskActions
  readonly onDone: () => void
}) {
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.select(), [])
  const [title, setTitle] = useState(task.title)
  const [description, setDescription] = useState(task.description ?? '')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (title.trim() === '') return
    if (title.trim() !== task.title || description !== (task.description ?? ''))
      actions.edit(task.id, { title: title.trim(), description })
    onDone()
  }
  return (
    <form
      className="task task-form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onDone()
      }}
    >
      <input
        ref={first}
        aria-label="Title"
        maxLength={500}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <textarea
        aria-label="Description"
        maxLength={2000}
        rows={3}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <div className="form-line">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" tone="accent" disabled={title.trim() === ''}>
          Save
        </Button>
      </div>
    </form>
  )
}
