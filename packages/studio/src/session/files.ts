import { liveLog, type Recorded, runWord, type SessionInfo, transcriptView, wholeRecording } from '@millrace/core'
import type { SessionHandle } from '@millrace/react'
import { create } from 'zustand'

/** A recording that was dropped on the page: a session like any other, but it is never sent to the server. */
export interface OpenedFile {
  readonly info: SessionInfo
  readonly handle: SessionHandle
  /** The original text of the file, for saving it to the server. */
  readonly text: string
}

const prefix = 'file:'

export const useFiles = create<{ readonly files: readonly OpenedFile[] }>()(() => ({ files: [] }))

export const isFile = (id: string): boolean => id.startsWith(prefix)

export function openedFile(id: string): OpenedFile | undefined {
  return useFiles.getState().files.find(({ info }) => info.id === id)
}

/** The handle of an opened file, an empty one if the file is not open; undefined for a session of the server. */
export function fileHandle(id: string): SessionHandle | undefined {
  if (!isFile(id)) return undefined
  return openedFile(id)?.handle ?? handleOf(id, [])
}

/** Opens a recording (an export, or a stream of any dialect) as the server would import it. Resolves with its id. */
export async function openFile(file: File): Promise<string> {
  const text = await file.text()
  const id = `${prefix}${file.name}`
  const { agent, rows } = await wholeRecording(text, { run: file.name, now: () => file.lastModified })
  const handle = handleOf(id, rows)
  const opened: OpenedFile = { info: infoOf(id, file.name, agent, handle, rows), handle, text }
  useFiles.setState(({ files }) => ({ files: [opened, ...files.filter(({ info }) => info.id !== id)] }))
  return id
}

export function closeFile(id: string): void {
  useFiles.setState(({ files }) => ({ files: files.filter(({ info }) => info.id !== id) }))
}

function handleOf(id: string, rows: readonly Recorded[]): SessionHandle {
  const log = liveLog((flush) => flush())
  log.append(rows)
  return {
    id,
    log,
    state: { phase: 'closed', how: 'ended' },
    subscribeState: () => () => undefined,
    retain: () => () => undefined,
    fill: async () => undefined,
  }
}

function infoOf(
  id: string,
  title: string,
  agent: string,
  { log }: SessionHandle,
  rows: readonly Recorded[],
): SessionInfo {
  const { latest } = log.read(transcriptView)
  return {
    id,
    user: '',
    agent,
    title,
    status: latest?.status ?? 'idle',
    ...(runWord(latest?.status ?? 'idle', latest?.error?.code) === 'cut off' ? { cutOff: true } : {}),
    lastSeq: log.lastSeq,
    events: rows.length,
    runs: new Set(rows.map(({ run }) => run)).size,
    createdAt: rows[0]?.at ?? 0,
    updatedAt: rows.at(-1)?.at ?? 0,
  }
}
