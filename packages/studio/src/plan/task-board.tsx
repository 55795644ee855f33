import type { PlanTask } from '@millrace/core'
import { type DragEvent, type KeyboardEvent, useState } from 'react'
import { Pill } from '../ui/controls.tsx'
import type { TaskActions } from './task-actions.ts'
import { TaskCard } from './task-card.tsx'

interface TaskBoardProps {
  readonly tasks: readonly PlanTask[]
  readonly current: string | undefined
  readonly actions: TaskActions
  readonly editable: boolean
}

/** The tasks in order. A task is moved by dragging its handle, or with the arrow keys while the handle is focused. */
export function TaskBoard({ tasks, current, actions, editable }: TaskBoardProps) {
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<number>()
  if (tasks.length === 0) return null
  const move = (id: string, order: number): void => {
    const from = tasks.findIndex((task) => task.id === id)
    if (order !== from && order >= 0 && order < tasks.length) actions.move(id, order)
  }
  const drop = (event: DragEvent, order: number): void => {
    event.preventDefault()
    if (dragged !== undefined) move(dragged, order)
    setDragged(undefined)
    setOver(undefined)
  }
  const onKeyDown = (event: KeyboardEvent, id: string, index: number): void => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
    if (step === 0) return
    event.preventDefault()
    event.stopPropagation()
    move(id, index + step)
  }
  return (
    <section className="panel-section">
      <h3>
        Tasks <Pill>{tasks.length}</Pill>
      </h3>
      <ol className="tasks">
        {tasks.map((task, index) => (
          <li
            key={task.id}
            data-testid="plan-task"
            data-status={task.status}
            className={`${dragged === task.id ? 'dragged' : ''} ${over === index && dragged !== undefined ? 'over' : ''}`}
            onDragOver={(event) => {
              if (dragged === undefined) return
              event.preventDefault()
              setOver(index)
            }}
            onDrop={(event) => drop(event, index)}
          >
            {editable && (
              <button
                type="button"
                className="handle"
                draggable
                title="Drag to reorder, or use the up and down arrow keys"
                aria-label={`Move ${task.title}: position ${index + 1} of ${tasks.length}`}
                onDragStart={(event) => {
                  event.dataTransfer.effectAllowed = 'move'
                  event.dataTransfer.setData('text/plain', task.title)
                  setDragged(task.id)
                }}
                onDragEnd={() => {
                  setDragged(undefined)
                  setOver(undefined)
                }}
                onKeyDown={(event) => onKeyDown(event, task.id, index)}
              >
                <svg width="8" height="14" viewBox="0 0 8 14" aria-hidden="true">
                  <path d="M2 2h.01M6 2h.01M2 7h.01M6 7h.01M2 12h.01M6 12h.01" />
                </svg>
              </button>
            )}
            <TaskCard task={task} active={task.id === current} actions={actions} editable={editable} />
          </li>
        ))}
      </ol>
    </section>
  )
}
