import type { SessionInfo } from '@millrace/core'
import { type MouseEvent, useState } from 'react'
import { closeDrawer } from '../app/panes.ts'
import { currentRoute, hrefOf, navigate } from '../app/route.ts'
import { showFailure } from '../app/toast.tsx'
import { printSides } from '../compare/sides.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { ago } from '../ui/duration.ts'
import { Editable } from '../ui/editable.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { useDateText } from '../ui/time.tsx'
import { isFile } from './files.ts'
import { download, downloadReport, fork, remove, rename, saveToServer } from './session-actions.ts'
import { titleOf } from './sessions.ts'
import { StatusDot } from './status-dot.tsx'

/** One session in the list: title, agent, age, status and a menu of actions. */
export function SessionListRow({
  info,
  current,
  now,
}: {
  readonly info: SessionInfo
  readonly current: boolean
  readonly now: number
}) {
  const [editing, setEditing] = useState(false)
  const date = useDateText(info.updatedAt)
  const open = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    navigate({ session: info.id })
    closeDrawer()
  }
  if (editing) {
    return (
      <li className="session editing">
        <Editable
          label="Title of the session"
          value={titleOf(info)}
          onDone={(title) => {
            setEditing(false)
            if (title !== undefined) showFailure(rename(info.id, title))
          }}
        />
      </li>
    )
  }
  return (
    <li className="session" aria-current={current ? 'page' : undefined}>
      <a href={hrefOf(info.id)} onClick={open} data-testid={`session-${info.id}`}>
        <StatusDot info={info} />
        <span className="session-title ellipsis" title={titleOf(info)}>
          {titleOf(info)}
        </span>
        <span className="session-meta ellipsis">
          {info.agent !== '' && <span style={{ color: agentColour(info.agent) }}>{info.agent}</span>}
          <span title={date}>{ago(info.updatedAt, now)}</span>
        </span>
      </a>
      <Menu label={`Actions for ${titleOf(info)}`} items={actions(info, current, () => setEditing(true))} />
    </li>
  )
}

function actions(info: SessionInfo, current: boolean, edit: () => void): readonly MenuItem[] {
  const exported: MenuItem = { label: 'Export', icon: 'download', onSelect: () => showFailure(download(info.id)) }
  const report: MenuItem = { label: 'Report', icon: 'file', onSelect: () => showFailure(downloadReport(info.id)) }
  const compared: MenuItem = {
    label: 'Compare with the open session',
    icon: 'compare',
    onSelect: () => navigate({ compare: printSides([{ session: info.id }]) }),
  }
  const comparable = !current && currentRoute().session !== undefined
  if (isFile(info.id)) {
    return [
      { label: 'Save to the server', icon: 'upload', onSelect: () => showFailure(saveToServer(info.id)) },
      report,
      ...(comparable ? [compared] : []),
      { label: 'Close', icon: 'close', onSelect: () => showFailure(remove(info.id)) },
    ]
  }
  return [
    { label: 'Rename', icon: 'pencil', onSelect: edit },
    { label: 'Fork', icon: 'fork', onSelect: () => showFailure(fork(info, undefined)) },
    exported,
    report,
    ...(comparable ? [compared] : []),
    { label: 'Delete', icon: 'trash', onSelect: () => showFailure(remove(info.id)) },
  ]
}
