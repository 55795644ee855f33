import type { SessionInfo } from '@millrace/core'
import type { SessionHandle } from '@millrace/react'
import { useState } from 'react'
import { togglePane, usePane } from '../app/panes.ts'
import { linkTo, routeNow } from '../app/route.ts'
import { showFailure } from '../app/toast.tsx'
import { isFile } from '../session/files.ts'
import { download, downloadReport, fork, rename, saveToServer } from '../session/session-actions.ts'
import { titleOf } from '../session/sessions.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { IconButton, Pill } from '../ui/controls.tsx'
import { useCopied } from '../ui/copy.tsx'
import { Editable } from '../ui/editable.tsx'
import { eventNumber } from '../ui/event-number.ts'
import { withCommand } from '../ui/key-name.ts'
import type { ConnectionLabel } from './connection-label.ts'
import { showFindBar } from './find-store.ts'

interface HeaderProps {
  readonly session: SessionHandle
  readonly info: SessionInfo | undefined
  readonly at: number | undefined
  readonly agent: string
  readonly label: ConnectionLabel
}

/** The title, agent and status of the session, and the actions on the whole session. */
export function ConversationHeader({ session, info, at, agent, label }: HeaderProps) {
  const sidebar = usePane('sidebar')
  const inspector = usePane('inspector')
  const timeline = usePane('timeline')
  const { copied: shared, copy } = useCopied()
  // The header may be drawn a little behind the cursor, and the link is for the moment that the person chose.
  const share = (): void => copy(linkTo(session.id, routeNow().at))
  return (
    <header className="conversation-head">
      {!sidebar && (
        <IconButton icon="sidebar" label="Show the session list ([)" onClick={() => togglePane('sidebar')} />
      )}
      <div className="conversation-name">
        <Title session={session} info={info} />
        {agent !== '' && (
          <span className="conversation-agent ellipsis" style={{ color: agentColour(agent) }}>
            {agent}
          </span>
        )}
      </div>
      <span role="status" data-testid="status" title={label.reason}>
        <Pill tone={label.tone}>
          <span className={`live-dot ${label.moving === true ? 'moving' : ''}`} />
          {label.word}
        </Pill>
      </span>
      <div className="conversation-tools">
        <IconButton
          icon="search"
          label={`Find in the conversation (${withCommand('F')})`}
          onClick={showFindBar}
          data-testid="open-find"
        />
        {info !== undefined && !isFile(session.id) && (
          <IconButton
            icon="fork"
            label={at === undefined ? 'Fork this session' : `Fork at event ${eventNumber(at)}`}
            onClick={() => showFailure(fork(info, at))}
            data-testid="fork"
          />
        )}
        {isFile(session.id) && (
          <IconButton icon="upload" label="Save to the server" onClick={() => showFailure(saveToServer(session.id))} />
        )}
        {!isFile(session.id) && (
          <IconButton
            icon={shared ? 'check' : 'share'}
            label={
              shared
                ? 'The link is copied'
                : at === undefined
                  ? 'Copy a link to this session'
                  : `Copy a link to event ${eventNumber(at)}`
            }
            data-testid="share"
            onClick={share}
          />
        )}
        <IconButton icon="download" label="Export" onClick={() => showFailure(download(session.id))} />
        <IconButton
          icon="file"
          label="Report: one HTML file to read, print and hand over"
          className="report-tool"
          data-testid="report"
          onClick={() => showFailure(downloadReport(session.id))}
        />
        <IconButton
          icon="timeline"
          label="Timeline (t)"
          aria-pressed={timeline}
          onClick={() => togglePane('timeline')}
        />
        <IconButton
          icon="panel"
          label="Inspector (])"
          aria-pressed={inspector}
          onClick={() => togglePane('inspector')}
        />
      </div>
    </header>
  )
}

function Title({ session, info }: { readonly session: SessionHandle; readonly info: SessionInfo | undefined }) {
  const [editing, setEditing] = useState(false)
  const title = info === undefined ? `Session ${session.id.slice(0, 8)}` : titleOf(info)
  if (editing) {
    return (
      <Editable
        label="Title of the session"
        value={title}
        onDone={(next) => {
          setEditing(false)
          if (next !== undefined) showFailure(rename(session.id, next))
        }}
      />
    )
  }
  return (
    <h1>
      <button
        type="button"
        className="title ellipsis"
        title={isFile(session.id) ? title : 'Rename'}
        disabled={isFile(session.id)}
        onClick={() => setEditing(true)}
      >
        {title}
      </button>
    </h1>
  )
}
