import { useView } from '@millrace/react'
import { type KeyboardEvent, memo, Suspense, useEffect, useRef } from 'react'
import { failuresView } from '../problems/failures.ts'
import { IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { type Contents, contentsView } from './contents.ts'
import { type PanelProps, panels } from './panels.ts'
import { toggleMaximised, useMaximised } from './panes.ts'
import { navigate, useRoute } from './route.ts'
import './inspector.css'

/** The panels as tabs. Each shows the session at the shared cursor. */
export const Inspector = memo(function Inspector(props: PanelProps) {
  const panel = useRoute('panel')
  const maximised = useMaximised()
  const contents = useView(props.session.log, contentsView)
  const failures = useView(props.session.log, failuresView, { select: countOf })
  const list = useRef<HTMLDivElement>(null)
  const shown = panels.find(({ id }) => id === panel) ?? panels[0]
  // On a phone some tabs are beyond the edge of the screen, and a link or a key may open any of them.
  useEffect(() => {
    list.current?.querySelector(`#tab-${shown?.id}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [shown])
  if (shown === undefined) return null
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    event.stopPropagation()
    const next = panels[(panels.indexOf(shown) + step + panels.length) % panels.length]
    navigate({ panel: next?.id ?? shown.id })
    list.current?.querySelector<HTMLElement>(`#tab-${next?.id}`)?.focus()
  }
  const Body = shown.component
  return (
    <>
      <div className="tab-bar">
        <div className="tabs scroll" role="tablist" aria-label="Panels" ref={list} onKeyDown={onKeyDown}>
          {panels.map(({ id, title, icon, key }) => (
            <button
              type="button"
              key={id}
              id={`tab-${id}`}
              role="tab"
              aria-selected={id === shown.id}
              aria-controls="panel"
              tabIndex={id === shown.id ? 0 : -1}
              title={isEmpty(contents, id) ? `${title} (${key}): nothing yet` : `${title} (${key})`}
              className={isEmpty(contents, id) ? 'dimmed' : ''}
              onClick={() => navigate({ panel: id })}
            >
              <Icon name={icon} />
              <span>{title}</span>
              {id === 'problems' && failures > 0 && (
                <span className="badge number" data-testid="problem-badge">
                  {failures}
                  <span className="visually-hidden"> failed</span>
                </span>
              )}
            </button>
          ))}
        </div>
        <IconButton
          icon={maximised ? 'restore' : 'maximise'}
          label={maximised ? 'Show the conversation again (f)' : 'Maximise the inspector (f)'}
          aria-pressed={maximised}
          className="maximise"
          data-testid="maximise"
          onClick={toggleMaximised}
        />
      </div>
      <div
        className="panel"
        role="tabpanel"
        id="panel"
        aria-labelledby={`tab-${shown.id}`}
        data-testid={`panel-${shown.id}`}
      >
        <Suspense fallback={<div className="panel-loading" />}>
          <Body {...props} />
        </Suspense>
      </div>
    </>
  )
})

const countOf = ({ list }: { readonly list: { readonly length: number } }): number => list.length

/** Whether the panel has nothing to show. Its tab still opens it, and the panel says what would be there. */
function isEmpty(contents: Contents, id: string): boolean {
  return id in contents && !contents[id as keyof Contents]
}
