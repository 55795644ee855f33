import type { Block } from '@millrace/core'
import { type KeyboardEvent, useEffect, useMemo } from 'react'
import { IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { matchesIn, mostMatches } from './find-matches.ts'
import { findFieldId, hideFindBar, stepFind, useFindBar } from './find-store.ts'
import './find-bar.css'

/** Finds a text in the conversation at the cursor: how often it is there, and the next and the previous place. */
export function FindBar({ blocks, session }: { readonly blocks: readonly Block[]; readonly session: string }) {
  const open = useFindBar((state) => state.open)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another session is another search
  useEffect(() => hideFindBar, [session])
  return open ? <FindFields blocks={blocks} /> : null
}

function FindFields({ blocks }: { readonly blocks: readonly Block[] }) {
  const { text, current, matches } = useFindBar()
  const found = useMemo(() => matchesIn(blocks, text), [blocks, text])
  useEffect(
    () =>
      useFindBar.setState(({ current: before }) => ({
        matches: found,
        current: Math.min(before, Math.max(0, found.length - 1)),
      })),
    [found],
  )
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') hideFindBar()
    else if (event.key === 'Enter' || event.key === 'F3') stepFind(event.shiftKey ? -1 : 1)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <search className="find-bar" data-testid="find-bar">
      <label>
        <Icon name="search" size={14} />
        <span className="visually-hidden">Find in the conversation</span>
        <input
          id={findFieldId}
          // biome-ignore lint/a11y/noAutofocus: the bar was opened to type
          autoFocus
          type="text"
          autoComplete="off"
          spellCheck={false}
          placeholder="Find in the conversation"
          value={text}
          data-testid="find-input"
          onKeyDown={onKeyDown}
          onChange={(event) => useFindBar.setState({ text: event.target.value, current: 0 })}
        />
      </label>
      <span className="find-count number" role="status" data-testid="find-count">
        {text.trim() === '' ? '' : countText(current, matches.length)}
      </span>
      <IconButton
        icon="up"
        label="Previous (Shift+Enter)"
        disabled={matches.length === 0}
        onClick={() => stepFind(-1)}
      />
      <IconButton icon="down" label="Next (Enter)" disabled={matches.length === 0} onClick={() => stepFind(1)} />
      <IconButton icon="close" label="Close (Esc)" onClick={hideFindBar} />
    </search>
  )
}

function countText(current: number, count: number): string {
  if (count === 0) return 'Not found'
  return `${(current + 1).toLocaleString('en')} of ${count.toLocaleString('en')}${count === mostMatches ? '+' : ''}`
}
