import { useClient } from '@millrace/react'
import { useMemo } from 'react'
import { report } from '../app/toast.tsx'

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
      add: (title) => report(client.request(tasks, { method: 'POST', body: { title } })),
      edit: (task, change) => report(client.request(one(task), { method: 'PATCH', body: change })),
      move: (task, order) => report(client.request(one(task), { method: 'PATCH', body: { order } })),
      drop: (task) => report(client.request(one(task), { method: 'DELETE' })),
      retry: (task) => report(client.request(`${one(task)}/retry`, { method: 'POST', body: {} })),
      execute: () => report(client.start(session, agent, { messages: [], props: { mode: 'execute' } })),
      stop: () => report(client.cancel(session)),
    }
  }, [client, session, agent])
}
