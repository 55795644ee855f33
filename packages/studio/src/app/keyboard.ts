import type { LiveLog } from '@millrace/core'
import { useEffect } from 'react'
import { findFieldId, showFindBar } from '../conversation/find-store.ts'
import { hidePalette, showPalette, usePalette } from '../find/palette-store.ts'
import { showInbox } from '../inbox/inbox-store.ts'
import { goTo } from '../session/cursor.ts'
import { stepCursor, togglePlay, usePlayer } from '../session/play.ts'
import { showKeys } from './key-sheet.tsx'
import { panels } from './panels.ts'
import { closeDrawer, showPane, toggleMaximised, togglePane } from './panes.ts'
import { currentRoute, navigate } from './route.ts'
import { nextTheme } from './settings.ts'

/** Keys that work unless a text field has the focus. */
const everywhere: Readonly<Record<string, () => void>> = {
  '?': showKeys,
  '/': () => {
    showPane('sidebar', true)
    focusSoon('session-search')
  },
  n: () => {
    navigate({ session: undefined })
    focusSoon('message')
  },
  m: () => focusSoon('message'),
  i: showInbox,
  '[': () => togglePane('sidebar'),
  ']': () => togglePane('inspector'),
  t: () => togglePane('timeline'),
  d: nextTheme,
  f: toggleMaximised,
}

/** Handles the keyboard shortcuts of the page, and with a log also those that move the cursor. */
export function useKeyboard(log: LiveLog | undefined): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (withCommandKey(event, log !== undefined)) {
        event.preventDefault()
        return
      }
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTaken(event)) return
      // A key that is held down would open and close what it toggles until it is released.
      if (event.repeat && event.key in everywhere) return
      const act = everywhere[event.key] ?? (log === undefined ? undefined : inSession(event, log))
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [log])
}

/** ⌘K and Ctrl+K work everywhere, also in text fields. */
function withCommandKey(event: KeyboardEvent, isSession: boolean): boolean {
  if (!(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey || event.defaultPrevented) return false
  const key = event.key.toLowerCase()
  const isDialog = event.target instanceof HTMLElement && event.target.closest('dialog') !== null
  if (key === 'k' && (!isDialog || usePalette.getState().open)) {
    if (usePalette.getState().open) hidePalette()
    else showPalette()
    return true
  }
  // The browser's own search does not see rows that are scrolled away. Pressed twice, it comes nevertheless.
  if (key !== 'f' || !isSession || isDialog || document.activeElement?.id === findFieldId) return false
  showFindBar()
  return true
}

function inSession({ key, shiftKey }: KeyboardEvent, log: LiveLog): (() => void) | undefined {
  if (key === 'ArrowLeft') return () => stepCursor(log, currentRoute().at, -1, shiftKey)
  if (key === 'ArrowRight') return () => stepCursor(log, currentRoute().at, 1, shiftKey)
  if (key === ' ') return () => togglePlay(log)
  if (key === 'Escape') {
    return () => {
      closeDrawer()
      usePlayer.setState({ playing: false })
      goTo(undefined)
    }
  }
  const panel = panels.find((candidate) => candidate.key === key)
  if (panel === undefined) return undefined
  return () => {
    navigate({ panel: panel.id })
    showPane('inspector', true)
  }
}

/** Whether the focused element needs the key itself: a text field, a dialog, or a button that is pressed with Space. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  // Esc closes a modal dialog, also when what had the focus in it is gone and the page has it.
  if (document.querySelector('dialog:modal') !== null) return true
  if (!(target instanceof HTMLElement)) return false
  // The scrubber keeps the focus after a click, and needs only the keys that move it.
  if (target.matches('input[type="range"]')) return /^(Arrow|Page|Home|End)/.test(key)
  if (target.closest('dialog, [popover], input, textarea, select, [contenteditable="true"]') !== null) return true
  return key === ' ' && target.closest('button, summary, a, [role="slider"]') !== null
}

/** Focuses a field: now if it exists, so that the next key goes into it, otherwise after the render that creates it. */
function focusSoon(id: string): void {
  const field = document.getElementById(id)
  if (field !== null) field.focus()
  else requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(id)?.focus()))
}
