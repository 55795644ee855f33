import type { FoundRow, SessionInfo } from '@millrace/core'
import { closeDrawer, togglePane } from '../app/panes.ts'
import { currentRoute, navigate } from '../app/route.ts'
import { nextTheme } from '../app/settings.ts'
import { showSettings } from '../app/settings-sheet.tsx'
import { showInbox } from '../inbox/inbox-store.ts'
import { titleOf } from '../session/sessions.ts'
import { useStepChoice } from '../step/open-step.ts'
import type { IconName } from '../ui/icon.tsx'
import type { Search } from './use-search.ts'

/** One line of the palette that can be chosen. */
export interface PaletteOption {
  readonly key: string
  readonly act: () => void
  readonly row?: FoundRow
  readonly session?: SessionInfo
  readonly action?: PaletteAction
}

export interface PaletteAction {
  readonly label: string
  readonly icon: IconName
  readonly keys?: string
}

export interface PaletteGroup {
  readonly key: string
  readonly title: string
  readonly session?: SessionInfo
  readonly options: readonly PaletteOption[]
}

/** Sessions by title that the palette lists besides what the search finds in them. */
const mostSessions = 5

const actions: readonly (PaletteAction & { readonly act: () => void })[] = [
  { label: 'New session', icon: 'plus', keys: 'n', act: () => navigate({ session: undefined }) },
  { label: 'Open the inbox', icon: 'inbox', keys: 'i', act: showInbox },
  { label: 'Show or hide the session list', icon: 'sidebar', keys: '[', act: () => togglePane('sidebar') },
  { label: 'Show or hide the inspector', icon: 'panel', keys: ']', act: () => togglePane('inspector') },
  { label: 'Show or hide the timeline', icon: 'timeline', keys: 't', act: () => togglePane('timeline') },
  { label: 'Change the theme', icon: 'sun', keys: 'd', act: nextTheme },
  { label: 'Settings', icon: 'settings', act: showSettings },
]

/** What the palette offers: what was found by session, sessions by their title, and actions of the page. */
export function paletteGroups(
  text: string,
  search: Search,
  sessions: readonly SessionInfo[],
  more: readonly (PaletteAction & { readonly act: () => void })[],
): readonly PaletteGroup[] {
  const wanted = text.trim().toLowerCase()
  const named = sessions
    .filter((info) => wanted === '' || `${titleOf(info)} ${info.id}`.toLowerCase().includes(wanted))
    .slice(0, mostSessions)
    .map((info): PaletteOption => ({ key: `s ${info.id}`, session: info, act: () => openSession(info.id) }))
  const offered = [...actions, ...more]
    .filter(({ label }) => wanted === '' || label.toLowerCase().includes(wanted))
    .map(({ act, ...action }): PaletteOption => ({ key: `a ${action.label}`, action, act }))
  return [
    ...(named.length === 0
      ? []
      : [{ key: 'sessions', title: wanted === '' ? 'Recent sessions' : 'Sessions', options: named }]),
    ...bySession(search),
    ...(offered.length === 0 ? [] : [{ key: 'actions', title: 'Actions', options: offered }]),
  ]
}

/** Groups are in the order of their best row. */
function bySession({ found, sessions }: Search): readonly PaletteGroup[] {
  const groups = new Map<string, PaletteOption[]>()
  for (const row of found) {
    const option = { key: `${row.session} ${row.seq} ${row.kind}`, row, act: () => openRow(row) }
    groups.set(row.session, [...(groups.get(row.session) ?? []), option])
  }
  return [...groups].map(([id, options]) => {
    const session = sessions.get(id)
    const title = session === undefined ? id : titleOf(session)
    return { key: `f ${id}`, title, options, ...(session === undefined ? {} : { session }) }
  })
}

function openSession(id: string): void {
  navigate({ session: id, ...(currentRoute().session === id ? { at: undefined } : {}) })
  closeDrawer()
}

/** Shows the session at the row that was found, with the panel that has more about it. */
function openRow({ session, seq, kind }: FoundRow): void {
  useStepChoice.setState({ at: seq }, true)
  navigate({ session, at: seq, panel: kind === 'state' ? 'state' : kind === 'plan' ? 'plan' : 'step' })
  closeDrawer()
}
