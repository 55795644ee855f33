import { useClient } from '@millrace/react'
import { useMemo } from 'react'
import { showToast } from '../app/toast.tsx'

/** What a person can do to the plan; every change comes back as an event, so nothing is kept here. */
export interface TaskActions {
  add(title: string): void
  edit(task: string, change: { readonly title: string; readonly description: string }): void
  move(task: string, order: number): void
  drop(task: string): void
  retry(task: string): void
  execute(): void
  stop(): void
}

export function useTaskActions(session: string, agent: string): TaskActions {
  const client = useClient()
  return useMemo(() => {
    const tasks = `sessions/${encodeURIComponent(session)}/tasks`
    const one = (task: string): string => `${tasks}/${encodeURIComponent(task)}`
    return {
      add: (title) => showToast(client.request(tasks, { method: 'POST', body: { title } })),
      edit: (task, change) => showToast(client.request(one(task), { method: 'PATCH', body: change })),
      move: (task, order) => showToast(client.request(one(task), { method: 'PATCH', body: { order } })),
      drop: (task) => showToast(client.request(one(task), { method: 'DELETE' })),
      retry: (task) => showToast(client.request(`${one(task)}/retry`, { method: 'POST', body: {} })),
      execute: () => showToast(client.start(session, agent, { messages: [], props: { mode: 'execute' } })),
      stop: () => showToast(client.cancel(session)),
    }
  }, [client, session, agent])
}
