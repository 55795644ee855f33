import { type SessionHandle, useConnectionState, useSession } from '@millrace/react'
import { useEffect, useLayoutEffect } from 'react'
import { ChangeSheet } from '../change/change-sheet.tsx'
import { Compare } from '../compare/compare.tsx'
import { Conversation } from '../conversation/conversation.tsx'
import { Palette } from '../find/palette.tsx'
import { Inbox } from '../inbox/inbox.tsx'
import { Notices } from '../inbox/notices.tsx'
import { useAgentColours } from '../session/agents-seen.ts'
import { useContentCursor } from '../session/content-cursor.ts'
import { isFile, openedFile } from '../session/files.ts'
import { useTokenLoading } from '../session/load-tokens.ts'
import { usePlayback } from '../session/play.ts'
import { useSessionPolling } from '../session/polling.ts'
import { SessionList } from '../session/session-list.tsx'
import { useSessionInfo, useSessions } from '../session/sessions.ts'
import { Welcome } from '../session/welcome.tsx'
import { TimelinePanel } from '../timeline/timeline.tsx'
import { Empty } from '../ui/controls.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { DropZone } from './drop-zone.tsx'
import { Inspector } from './inspector.tsx'
import { KeySheet } from './key-sheet.tsx'
import { useKeyboard } from './keyboard.ts'
import { closeDrawer, useMaximised, useNarrow, usePane } from './panes.ts'
import { useRoute } from './route.ts'
import { applyTheme, useSettings } from './settings.ts'
import { SettingsSheet } from './settings-sheet.tsx'
import { Toast } from './toast.tsx'
import { isUnknownSession, UnknownPlace } from './unknown-place.tsx'
import './shell.css'

/** The layout of the page: session list, conversation, inspector, and the timeline below, which moves the cursor. */
export function Shell() {
  const session = useRoute('session')
  const compare = useRoute('compare')
  const unknown = useRoute('unknown')
  const { theme, sidebarWidth, set } = useSettings()
  const sidebar = usePane('sidebar')
  const narrow = useNarrow()
  const { loadAgents, loadCaller } = useSessions.getState()
  const signedOut = useSessions(({ status }) => status === 'unauthorized')
  useSessionPolling()
  useLayoutEffect(() => applyTheme(theme), [theme])
  useEffect(() => {
    void loadAgents()
    void loadCaller()
  }, [loadAgents, loadCaller])
  return (
    <div className="shell">
      <button type="button" className="skip-link" onClick={skipToMain}>
        Skip to the content
      </button>
      {sidebar && (
        <>
          {narrow && <button type="button" className="scrim" aria-label="Close" onClick={closeDrawer} />}
          <nav className="sidebar" style={narrow ? undefined : { width: sidebarWidth }} aria-label="Sessions">
            <SessionList />
          </nav>
          <Splitter
            label="Width of the session list"
            axis="x"
            value={sidebarWidth}
            min={200}
            max={420}
            direction={1}
            onChange={(width) => set({ sidebarWidth: width })}
          />
        </>
      )}
      {unknown ? (
        <UnknownPlace id={undefined} />
      ) : session === undefined || (signedOut && !isFile(session)) ? (
        <Start />
      ) : compare === undefined ? (
        <Place key={session} id={session} />
      ) : (
        <Compare key={`${session} ${compare}`} open={session} compare={compare} />
      )}
      <KeySheet />
      <SettingsSheet />
      <ChangeSheet />
      <Palette />
      <Inbox />
      <DropZone />
      <Notices />
      <Toast />
    </div>
  )
}

/** A link to `#main` would lead to the start page, because the page has a `<base>`. */
function skipToMain(): void {
  const main = document.querySelector('main')
  main?.setAttribute('tabindex', '-1')
  main?.focus()
}

function Start() {
  useKeyboard(undefined)
  return <Welcome />
}

function Place({ id }: { readonly id: string }) {
  if (isFile(id) && openedFile(id) === undefined) return <ClosedFile />
  return <SessionPlace id={id} />
}

/** A file is never uploaded, so it is gone once the page is left. */
function ClosedFile() {
  useKeyboard(undefined)
  return (
    <main className="workspace">
      <Empty icon="file" title="This file is no longer open">
        Files stay on your machine and are closed when you leave the page. Drop the file here again to continue.
      </Empty>
    </main>
  )
}

function SessionPlace({ id }: { readonly id: string }) {
  const session = useSession(id)
  const connection = useConnectionState(session)
  return isUnknownSession(connection) && session.log.lastSeq === 0 ? (
    <UnknownPlace id={id} />
  ) : (
    <Workspace session={session} />
  )
}

function Workspace({ session }: { readonly session: SessionHandle }) {
  const { id } = session
  const info = useSessionInfo(id)
  const at = useRoute('at')
  const shown = useContentCursor(at)
  const { inspectorWidth, timelineHeight, set } = useSettings()
  const inspector = usePane('inspector')
  const timeline = usePane('timeline')
  const narrow = useNarrow()
  const maximised = useMaximised() && inspector
  useKeyboard(session.log)
  useAgentColours(session)
  usePlayback(session.log)
  useTokenLoading(session, at)
  const agent = info?.agent ?? ''
  return (
    <div className="workspace">
      <div className={`upper ${maximised ? 'maximised' : ''}`} aria-busy={shown !== at}>
        <main className="centre">
          <Conversation session={session} info={info} at={shown} />
        </main>
        {inspector && (
          <>
            <Splitter
              label="Width of the inspector"
              axis="x"
              value={inspectorWidth}
              min={320}
              max={1100}
              direction={-1}
              onChange={(width) => set({ inspectorWidth: width })}
            />
            {narrow && <button type="button" className="scrim" aria-label="Close" onClick={closeDrawer} />}
            <aside className="inspector" style={narrow ? undefined : { width: inspectorWidth }} aria-label="Inspector">
              <Inspector session={session} agent={agent} at={shown} />
            </aside>
          </>
        )}
      </div>
      {timeline && (
        <>
          <Splitter
            label="Height of the timeline"
            axis="y"
            value={timelineHeight}
            min={100}
            max={600}
            direction={-1}
            onChange={(height) => set({ timelineHeight: height })}
          />
          {narrow && <button type="button" className="scrim" aria-label="Close" onClick={closeDrawer} />}
          <section className="timeline-slot" style={{ height: timelineHeight }} aria-label="Timeline">
            <TimelinePanel session={session} agent={agent} at={at} />
          </section>
        </>
      )}
    </div>
  )
}
