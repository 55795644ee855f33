import type { FoundKind, Snippet } from '@millrace/core'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { showKeys } from '../app/key-sheet.tsx'
import { useSessions } from '../session/sessions.ts'
import { StatusDot } from '../session/status-dot.tsx'
import { agentColour } from '../ui/agent-colour.ts'
import { Button, Kbd } from '../ui/controls.tsx'
import { ago } from '../ui/duration.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { type PaletteGroup, type PaletteOption, paletteGroups } from './palette-options.ts'
import { hidePalette, usePalette } from './palette-store.ts'
import { useSearch } from './use-search.ts'
import './palette.css'

const kinds: readonly (readonly [FoundKind | undefined, string])[] = [
  [undefined, 'Everything'],
  ['message', 'Messages'],
  ['tool', 'Tools'],
  ['state', 'State'],
  ['error', 'Errors'],
  ['agent', 'Agents'],
  ['plan', 'Plans'],
]
const kindIcons: Readonly<Record<FoundKind, IconName>> = {
  message: 'thought',
  tool: 'tool',
  state: 'state',
  error: 'problems',
  agent: 'flow',
  plan: 'plan',
}
const moreActions = [{ label: 'Keyboard shortcuts', icon: 'keyboard', keys: '?', act: showKeys }] as const

/** Finds anything in all sessions, and offers the actions of the page. */
export function Palette() {
  const { open } = usePalette()
  return (
    <Sheet open={open} onClose={hidePalette} className="palette" testId="palette" label="Search everything">
      {open && <PaletteBody />}
    </Sheet>
  )
}

function PaletteBody() {
  const [text, setText] = useState('')
  const [kind, setKind] = useState<FoundKind>()
  const [chosen, setChosen] = useState(0)
  const search = useSearch(text, kind)
  const sessions = useSessions((state) => state.sessions)
  const groups = useMemo(() => {
    const newest = [...sessions].sort((a, b) => b.updatedAt - a.updatedAt)
    const all = paletteGroups(text, search, newest, moreActions)
    return kind === undefined ? all : all.filter(({ key }) => key.startsWith('f '))
  }, [text, search, sessions, kind])
  const options = groups.flatMap((group) => group.options)
  const here = Math.min(chosen, options.length - 1)
  const list = useId()
  const choose = (option: PaletteOption | undefined): void => {
    if (option === undefined) return
    hidePalette()
    option.act()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = moved(event.key, here, options.length)
    if (to !== undefined) setChosen(to)
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) choose(options[here])
    else return
    event.preventDefault()
  }
  return (
    <div className="palette-body">
      <label className="palette-field">
        <Icon name="search" />
        <span className="visually-hidden">Search everything</span>
        <input
          // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type
          autoFocus
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={here < 0 ? undefined : `${list}-${here}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          maxLength={400}
          placeholder="Search messages, tools, state, errors"
          value={text}
          data-testid="palette-input"
          onKeyDown={onKeyDown}
          onChange={(event) => {
            setText(event.target.value)
            setChosen(0)
          }}
        />
        <Kbd>Esc</Kbd>
      </label>
      <Chips
        kind={kind}
        onChange={(next) => {
          setKind(next)
          setChosen(0)
        }}
      />
      <div className="palette-list scroll" id={list} role="listbox" aria-label="Results" data-testid="palette-results">
        {groups.map((group) => (
          <Group key={group.key} group={group} options={options} here={here} list={list} onChoose={choose} />
        ))}
      </div>
      <Footer search={search} text={text} kind={kind} />
    </div>
  )
}

function moved(key: string, here: number, count: number): number | undefined {
  if (count === 0) return undefined
  if (key === 'ArrowDown') return (here + 1) % count
  if (key === 'ArrowUp') return (here - 1 + count) % count
  if (key === 'PageDown') return Math.min(count - 1, here + 8)
  if (key === 'PageUp') return Math.max(0, here - 8)
  return undefined
}

function Chips({
  kind,
  onChange,
}: {
  readonly kind: FoundKind | undefined
  readonly onChange: (kind: FoundKind | undefined) => void
}) {
  return (
    <fieldset className="palette-chips">
      <legend className="visually-hidden">Kinds of results</legend>
      {kinds.map(([name, title]) => (
        <button
          key={title}
          type="button"
          className="palette-chip"
          aria-pressed={kind === name}
          data-testid={`palette-kind-${name ?? 'all'}`}
          onClick={() => onChange(name)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
}

interface GroupProps {
  readonly group: PaletteGroup
  readonly options: readonly PaletteOption[]
  readonly here: number
  readonly list: string
  readonly onChoose: (option: PaletteOption) => void
}

function Group({ group, options, here, list, onChoose }: GroupProps) {
  const { session } = group
  const title = useId()
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of options in a list box
    <div role="group" aria-labelledby={title}>
      <div id={title} className="palette-title">
        {session !== undefined && <StatusDot info={session} />}
        <span className="ellipsis">{group.title}</span>
        {session !== undefined && session.agent !== '' && (
          <span className="palette-agent" style={{ color: agentColour(session.agent) }}>
            {session.agent}
          </span>
        )}
        {session !== undefined && <span className="palette-age">{ago(session.updatedAt, Date.now())}</span>}
      </div>
      {group.options.map((option) => {
        const index = options.indexOf(option)
        return (
          <Option key={option.key} id={`${list}-${index}`} chosen={index === here} onChoose={() => onChoose(option)}>
            <Line option={option} />
          </Option>
        )
      })}
    </div>
  )
}

function Option({
  id,
  chosen,
  onChoose,
  children,
}: {
  readonly id: string
  readonly chosen: boolean
  readonly onChoose: () => void
  readonly children: ReactNode
}) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (chosen) element.current?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the field, which keeps the focus
    // biome-ignore lint/a11y/useFocusableInteractive: the field points at it with aria-activedescendant
    <div
      ref={element}
      id={id}
      role="option"
      aria-selected={chosen}
      className="palette-option"
      data-testid="palette-option"
      onClick={onChoose}
    >
      {children}
    </div>
  )
}

function Line({ option: { row, session, action } }: { readonly option: PaletteOption }) {
  if (row !== undefined) {
    return (
      <>
        <span className="palette-kind" data-kind={row.kind} title={row.kind}>
          <Icon name={kindIcons[row.kind]} size={14} />
          <span className="visually-hidden">{row.kind}</span>
        </span>
        <span className="palette-snippet">
          <Marked snippet={row.snippet} />
        </span>
        {row.author !== '' && <span className="palette-author ellipsis">{row.author}</span>}
        <span className="palette-seq number">#{row.seq}</span>
      </>
    )
  }
  if (session !== undefined) {
    return (
      <>
        <StatusDot info={session} />
        <span className="palette-snippet ellipsis">{session.title === '' ? session.id : session.title}</span>
        <span className="palette-author ellipsis">{session.agent}</span>
      </>
    )
  }
  return (
    <>
      <Icon name={action?.icon ?? 'right'} size={14} />
      <span className="palette-snippet">{action?.label}</span>
      {action?.keys !== undefined && <Kbd>{action.keys}</Kbd>}
    </>
  )
}

/** The text with its matches marked. */
function Marked({ snippet: { text, marks } }: { readonly snippet: Snippet }) {
  const pieces: ReactNode[] = []
  let at = 0
  for (const [start, end] of marks) {
    pieces.push(plain(text.slice(at, start)), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return (
    <>
      {pieces}
      {plain(text.slice(at))}
    </>
  )
}

/** The words of an answer without the signs of its markdown. */
const plain = (text: string): string => text.replace(/\*\*|`|(^|\s)#{1,6} /g, '$1')

/** How far the search is, what it did not find, or why it failed. */
function Footer({
  search,
  text,
  kind,
}: {
  readonly search: ReturnType<typeof useSearch>
  readonly text: string
  readonly kind: FoundKind | undefined
}) {
  const { error, progress, next, found, pending, more, again } = search
  const words = text.trim()
  const nothing = words !== '' && !pending && error === undefined && found.length === 0
  const which = kind === undefined ? 'Nothing in your sessions' : `No ${kind}`
  return (
    <footer className="palette-foot" role="status" aria-live="polite" data-testid="palette-status">
      {error !== undefined && (
        <>
          <span className="bad-text">The search failed: {error}</span>
          <Button onClick={again}>Try again</Button>
        </>
      )}
      {nothing && <span>{`${which} has “${words.length > 40 ? `${words.slice(0, 40)}…` : words}”.`}</span>}
      {words === '' && <span>Type to search every session: what was said, called, stored or went wrong.</span>}
      {found.length > 0 && <span>{next === undefined ? count(found.length) : `The first ${count(found.length)}`}</span>}
      {progress !== undefined && (
        <span>Indexing older sessions: {Math.floor((100 * progress.done) / progress.of)} %</span>
      )}
      {next !== undefined && <Button onClick={more}>Show more</Button>}
    </footer>
  )
}

function count(matches: number): string {
  return matches === 1 ? '1 match' : `${matches.toLocaleString('en')} matches`
}
