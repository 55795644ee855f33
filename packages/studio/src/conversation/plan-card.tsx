import { type PlanTask, planView } from '@millrace/core'
import { type SessionHandle, useView } from '@millrace/react'
import { createContext, useContext } from 'react'
import { showPane } from '../app/panes.ts'
import { navigate } from '../app/route.ts'
import { useTaskActions } from '../plan/task-actions.ts'
import { Button } from '../ui/controls.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { taskWords } from '../ui/state-word.ts'
import { useActions } from './actions.ts'

interface PlanPlace {
  readonly session: SessionHandle
  readonly agent: string
  readonly at: number | undefined
}

export const PlanContext = createContext<PlanPlace | undefined>(undefined)

/** The plan, where it was made: its tasks, and the button that executes it. */
export function PlanCard() {
  const place = useContext(PlanContext)
  return place === undefined ? null : <Plan {...place} />
}

const icons: Readonly<Record<PlanTask['status'], IconName>> = {
  pending: 'plan',
  in_progress: 'play',
  done: 'check',
  failed: 'problems',
}

function Plan({ session, agent, at }: PlanPlace) {
  const { tasks, summary } = useView(session.log, planView, { at })
  const { canRun, activeRun } = useActions()
  const actions = useTaskActions(session.id, agent)
  const list = tasks.toArray()
  if (list.length === 0) return null
  const open = list.some(({ status }) => status === 'pending' || status === 'in_progress')
  return (
    <section className="plan-card" aria-label="Plan" data-testid="plan-card">
      <header>
        <Icon name="plan" />
        <h3>Plan</h3>
        <span className="number faint">
          {summary.completed} of {summary.total} done
        </span>
        <span className="spacer" />
        <button
          type="button"
          className="link"
          onClick={() => {
            navigate({ panel: 'plan' })
            showPane('inspector', true)
          }}
        >
          Edit
        </button>
        {canRun && activeRun === undefined && open && (
          <Button icon="play" tone="accent" onClick={actions.execute} data-testid="plan-card-execute">
            Execute
          </Button>
        )}
      </header>
      <ol>
        {list.map(({ id, title, status }) => (
          <li key={id} className={status}>
            <Icon name={icons[status]} size={14} />
            <span>{title}</span>
            <span className="faint">{taskWords[status]}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
