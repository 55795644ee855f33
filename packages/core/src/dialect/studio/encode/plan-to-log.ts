import type { RunEvent } from '../../../event/run-event.ts'

/** The plan events, which the schema has no form for, as sentences for its `log` frame. */
export function planToLog(event: RunEvent): readonly string[] {
  switch (event.kind) {
    case 'tasks':
      return [`Tasks: ${event.tasks.map((task) => task.title).join(', ')}`]
    case 'tasks.changed':
      return event.changes.map(({ task, title, removed }) => {
        const named = title ?? task
        return removed === true ? `Task removed: ${named}` : `Task changed: ${named}`
      })
    case 'task.started':
      return [`Task started: ${event.task}`]
    case 'task.finished':
      return [`Task ${event.status}: ${event.task}: ${event.result}`]
    case 'task.reflected':
      return [`Reflection on ${event.task}: ${event.text}`]
    case 'artifact':
      return [`Artifact ${event.deleted === true ? 'deleted' : 'saved'}: ${event.name} (${event.type})`]
    case 'data':
      return [`Data ${event.operation}d: ${event.itemType} ${event.id}`]
    default:
      return []
  }
}
