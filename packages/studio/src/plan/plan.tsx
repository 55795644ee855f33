import { type PlanState, planView, transcriptView } from '@millrace/core'
import { useView } from '@millrace/react'
import { type FormEvent, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { useAgentAbsent } from '../session/agent-absent.ts'
import { isFile } from '../session/files.ts'
import { Button, Empty, Pill } from '../ui/controls.tsx'
import { Artifacts } from './artifacts.tsx'
import { DataItems, Reflections } from './outcome.tsx'
import { type TaskActions, useTaskActions } from './task-actions.ts'
import { TaskBoard } from './task-board.tsx'
import './plan.css'

const latestOf = ({ latest }: { readonly latest?: { readonly status: string; readonly agent: string } | undefined }) =>
  latest

/** The tasks, which can be edited while no run is active, and their results. */
export function PlanPanel({ session, agent, at }: PanelProps) {
  const state = useView(session.log, planView, { at })
  const latest = useView(session.log, transcriptView, { select: latestOf })
  const runs = latest?.agent || agent
  const actions = useTaskActions(session.id, runs)
  const absent = useAgentAbsent(runs)
  const editable = at === undefined && !isFile(session.id) && !absent
  const running = latest?.status === 'running'
  const nothing = state.tasks.length + state.artifacts.length + state.data.length === 0
  return (
    <div className="plan-panel scroll">
      {nothing ? (
        <Empty icon="plan" title="No plan yet">
          {editable
            ? 'Ask an agent that makes plans, such as the planner, or add the first task yourself. Then execute the plan.'
            : 'No tasks, artifacts or data at this moment.'}
        </Empty>
      ) : (
        <Head state={state} actions={actions} editable={editable} running={running} />
      )}
      <TaskBoard
        tasks={state.tasks.toArray()}
        current={state.current}
        actions={actions}
        editable={editable && !running}
      />
      {editable && !running && <AddTask onAdd={actions.add} />}
      <Artifacts session={session} artifacts={state.artifacts.toArray()} />
      <DataItems items={state.data.toArray()} />
      <Reflections reflections={state.reflections.toArray()} tasks={state.tasks.toArray()} />
    </div>
  )
}

interface HeadProps {
  readonly state: PlanState
  readonly actions: TaskActions
  readonly editable: boolean
  readonly running: boolean
}

const modes = {
  planning: ['planning', 'soft'],
  executing: ['running', 'accent'],
  completed: ['done', 'ok'],
  paused: ['waiting', 'warn'],
} as const

/** The progress of the plan, and a button to execute or stop it. */
function Head({ state: { mode, summary, tasks }, actions, editable, running }: HeadProps) {
  const { total, completed, failed } = summary
  const [word, tone] = modes[mode]
  const open = tasks.toArray().some(({ status }) => status === 'pending' || status === 'in_progress')
  return (
    <section className="plan-head" data-testid="plan-summary">
      <div className="plan-line">
        <b className="number">
          {completed} of {total} done
        </b>
        {failed > 0 && <Pill tone="bad">{failed} failed</Pill>}
        <Pill tone={tone}>{word}</Pill>
        <span className="spacer" />
        {editable && running && (
          <Button icon="stop" tone="bad" onClick={actions.stop} data-testid="plan-stop">
            Stop
          </Button>
        )}
        {editable && !running && (
          <Button icon="play" tone="accent" disabled={!open} onClick={actions.execute} data-testid="plan-execute">
            {mode === 'paused' ? 'Continue' : 'Execute'}
          </Button>
        )}
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label="Tasks done"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={completed}
      >
        <span className="done" style={{ width: `${total === 0 ? 0 : (completed / total) * 100}%` }} />
        <span className="failed" style={{ width: `${total === 0 ? 0 : (failed / total) * 100}%` }} />
      </div>
    </section>
  )
}

function AddTask({ onAdd }: { readonly onAdd: (title: string) => void }) {
  const [title, setTitle] = useState('')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (title.trim() === '') return
    onAdd(title.trim())
    setTitle('')
  }
  return (
    <form className="add-task" onSubmit={submit}>
      <input
        aria-label="New task"
        placeholder="Add a task"
        value={title}
        maxLength={500}
        onChange={(event) => setTitle(event.target.value)}
        data-testid="plan-add"
      />
      <Button type="submit" icon="plus" disabled={title.trim() === ''}>
        Add
      </Button>
    </form>
  )
}
