import { wellFormed } from '@millrace/core'
import { useClient } from '@millrace/react'
import { useMemo } from 'react'
import { showFailure } from '../app/toast.tsx'

/** What the user can do to the plan. Every change comes back as an event, so no state is kept here. */
export interface TaskActions {
  add(title: string): void
  edit(task: string, change: { readonly title: string; readonly description: string }): void
  move(task: string, order: number): void
  remove(task: string): void
  retry(task: string): void
  execute(): void
  stop(): void
}

export function useTaskActions(session: string, agent: string): TaskActions {
  const client = useClient()
  return useMemo(() => {
    const tasks = `sessions/${encodeURIComponent(session)}/tasks`
    const one = (task: string): string => `${tasks}/${encodeURIComponent(wellFormed(task))}`
    return {
      add: (title) => showFailure(client.request(tasks, { method: 'POST', body: { title } })),
      edit: (task, change) => showFailure(client.request(one(task), { method: 'PATCH', body: change })),
      move: (task, order) => showFailure(client.request(one(task), { method: 'PATCH', body: { order } })),
      remove: (task) => showFailure(client.request(one(task), { method: 'DELETE' })),
      retry: (task) => showFailure(client.request(`${one(task)}/retry`, { method: 'POST', body: {} })),
      execute: () => showFailure(client.start(session, agent, { messages: [], props: { mode: 'execute' } })),
      stop: () => showFailure(client.cancel(session)),
    }
  }, [client, session, agent])
}
