import { replacedRows } from '../../event/replaced-runs.ts'
import type { ArtifactSaved, DataChanged, Recorded, RunFinished, RunStarted } from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'
import { isObject } from '../../json/json.ts'
import type { View } from '../view.ts'
import { planFromEvent, settleStreaming, withdrawn } from './content.ts'
import { emptyPlan, type PlanArtifact, type PlanState } from './state.ts'
import { taskFinished, taskReflected, taskStarted, tasksChanged, tasksSet } from './task.ts'
import { settledRun, undone, withUndo } from './undo.ts'

/** The plan and its execution: tasks, artifacts, data items, reflections, summary (docs/requirements.md, R2). */
export const planView: View<PlanState> = {
  name: 'plan',
  initial: emptyPlan,
  apply(state, recorded: Recorded) {
    const { event, run, seq } = recorded
    switch (event.kind) {
      case 'run.started':
        return runStarted(withoutReplaced(state, recorded, event), run, event)
      case 'tasks':
        return withUndo(state, tasksSet(state, recorded, event.tasks), recorded)
      case 'tasks.changed':
        return withUndo(state, tasksChanged(state, recorded, event), recorded)
      case 'task.started':
        return withUndo(state, taskStarted(state, recorded, event), recorded)
      case 'task.finished':
        return withUndo(state, taskFinished(state, recorded, event), recorded)
      case 'task.reflected':
        return withUndo(state, taskReflected(state, recorded, event), recorded)
      case 'agent': {
        const next = event.task === undefined ? state : planFromEvent(state, recorded, event, event.task)
        if (isPartial(event.event)) return next
        return announced(next, seq, event.event.actions?.artifactDelta, event.task)
      }
      case 'artifact':
        return withUndo(state, artifactSaved(state, seq, event), recorded)
      case 'data':
        return withUndo(state, dataChanged(state, seq, event), recorded)
      case 'superseded': {
        const next = withdrawn(state, run, event)
        return event.facts === true ? undone(next, run, event) : next
      }
      case 'run.finished':
        return settledRun(runFinished(state, recorded, event), run)
      default:
        return state
    }
  },
}

function withoutReplaced(state: PlanState, row: Recorded, event: RunStarted): PlanState {
  let next = state
  for (const lost of replacedRows(row, event)) next = withdrawn(next, lost.run, lost.event)
  return next
}

/** The client names the mode of a run: `execute` executes the plan; in any other mode it is discussed. */
function runStarted(state: PlanState, run: string, { input }: RunStarted): PlanState {
  if (input.props?.mode !== 'execute') return state
  return { ...state, mode: 'executing', executing: run }
}

function runFinished(before: PlanState, row: Recorded, { outcome }: RunFinished): PlanState {
  const state = settleStreaming(before, row.run, row)
  if (state.executing !== row.run) return state
  const { executing: _, current: __, ...rest } = state
  const { total, completed, failed } = state.summary
  const over = outcome === 'done' && completed + failed === total
  return { ...rest, mode: over ? 'completed' : 'paused' }
}

function artifactSaved(state: PlanState, seq: number, event: ArtifactSaved): PlanState {
  const { id, name, type, version, part, task, deleted } = event
  const at = state.artifactAt.get(id)
  const known = at === undefined ? undefined : state.artifacts.at(at)
  const isOlder = known !== undefined && known.deleted !== true && version < known.version
  if (isOlder && deleted !== true) return state
  const content = part === undefined ? (known?.version === version ? known.content : undefined) : seq
  const owner = task ?? known?.task
  return withArtifact(state, {
    id,
    name,
    type,
    version,
    seq,
    ...(content === undefined ? {} : { content }),
    ...(owner === undefined ? {} : { task: owner }),
    ...(deleted === true ? { deleted } : {}),
  })
}

/** ADK announces an artifact by its file name and version only. An artifact known in that version stays as it is. */
function announced(state: PlanState, seq: number, delta: unknown, task: string | undefined): PlanState {
  if (!isObject(delta)) return state
  let next = state
  for (const [name, version] of Object.entries(delta)) {
    const at = next.artifactAt.get(name)
    const known = at === undefined ? undefined : next.artifacts.at(at)
    if (typeof version !== 'number' || (known !== undefined && version <= known.version)) continue
    const owner = task === undefined ? {} : { task }
    next = withArtifact(next, { id: name, name, type: known?.type ?? 'other', version, seq, ...owner })
  }
  return next
}

function withArtifact(state: PlanState, artifact: PlanArtifact): PlanState {
  const at = state.artifactAt.get(artifact.id)
  if (at !== undefined) return { ...state, artifacts: state.artifacts.with(at, artifact) }
  const artifactAt = state.artifactAt.set(artifact.id, state.artifacts.length)
  return { ...state, artifacts: state.artifacts.append(artifact), artifactAt }
}

function dataChanged(state: PlanState, seq: number, { id, operation, itemType, item, task }: DataChanged): PlanState {
  const at = state.dataAt.get(id)
  const found = at === undefined ? undefined : state.data.at(at)
  // One that is made again after it was deleted is another one.
  const known = found?.deleted === true && operation !== 'delete' ? undefined : found
  const content = item === undefined ? known?.item : item
  const owner = task ?? known?.task
  const made = {
    id,
    itemType,
    seq,
    ...(content === undefined ? {} : { item: content }),
    ...(owner === undefined ? {} : { task: owner }),
    ...(operation === 'delete' ? ({ deleted: true } as const) : {}),
  }
  if (at !== undefined) return { ...state, data: state.data.with(at, made) }
  return { ...state, data: state.data.append(made), dataAt: state.dataAt.set(id, state.data.length) }
}
