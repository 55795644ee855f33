import { defined, type SessionInfo } from '@millrace/core'
import { currentRoute, navigate } from '../app/route.ts'
import { offer } from '../app/toast.tsx'
import { client, requestText } from './client.ts'
import { closeFile, isFile, openedFile } from './files.ts'
import { useRemoved } from './removed.ts'
import { useSessions } from './sessions.ts'

const path = (id: string): string => `sessions/${encodeURIComponent(id)}`
const refresh = (): Promise<void> => useSessions.getState().refresh()

/** Creates a session, shows it, and starts its first run with this text. */
export async function beginSession(agent: string, text: string): Promise<void> {
  const id = client.newId()
  await client.request('sessions', { method: 'POST', body: { id, agent, title: titleFrom(text) } })
  navigate({ session: id })
  await say(id, agent, text)
}

async function say(session: string, agent: string, text: string): Promise<void> {
  const content = { role: 'user', parts: [{ text }] }
  await client.start(session, agent, { messages: [{ id: client.newId(), role: 'user', content }] })
  await refresh()
}

/** Copies everything up to `at` into a new session and shows it. */
export async function fork(session: SessionInfo, at: number | undefined): Promise<string> {
  const body = defined({ at, title: `${session.title || 'Session'} (fork)`.slice(0, 200) })
  const { id } = (await client.request(`${path(session.id)}/fork`, { method: 'POST', body })) as SessionInfo
  await refresh()
  navigate({ session: id })
  return id
}

export async function rename(id: string, title: string): Promise<void> {
  await client.request(path(id), { method: 'PATCH', body: { title } })
  await refresh()
}

export async function remove(id: string): Promise<void> {
  if (isFile(id)) closeFile(id)
  else await client.request(`${path(id)}?undo=true`, { method: 'DELETE' })
  const wasOpen = currentRoute().session === id
  useSessions.getState().forget(id)
  if (wasOpen) navigate({ session: undefined })
  await refresh()
  if (isFile(id)) return
  await useRemoved.getState().refresh()
  offer('Session deleted.', 'Undo', () => bringBack(id, wasOpen))
}

/** Brings a deleted session back, and shows it if it was open. */
export async function bringBack(id: string, show = true): Promise<void> {
  await client.request(`${path(id)}/restore`, { method: 'POST' })
  await Promise.all([refresh(), useRemoved.getState().refresh()])
  if (show) navigate({ session: id })
}

/** Downloads the whole log as a file that can be dropped on any Millrace page. */
export async function download(id: string): Promise<void> {
  const text = openedFile(id)?.text ?? (await requestText(`${path(id)}/log`))
  save(`${id.replace(/[^\w.-]/g, '_')}.jsonl`, text)
}

/** Downloads the session as one HTML document to read, print and hand over. That of an opened file is made here. */
export async function downloadReport(id: string): Promise<void> {
  const file = openedFile(id)
  const name = `${id.replace(/[^\w.-]/g, '_')}.html`
  if (file === undefined) return save(name, await requestText(`${path(id)}/report`))
  const { sessionReport } = await import('@millrace/core/report')
  const { title, agent } = file.info
  save(name, sessionReport({ session: id, title, agent }, file.handle.log.rows))
}

/** Imports an opened file into the server and shows the new session. */
export async function saveToServer(id: string): Promise<void> {
  const file = openedFile(id)
  if (file === undefined) return
  const answer = await requestText(`sessions/import?title=${encodeURIComponent(file.info.title)}`, { body: file.text })
  await refresh()
  navigate({ session: (JSON.parse(answer) as SessionInfo).id })
}

export function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text]))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

function titleFrom(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}
