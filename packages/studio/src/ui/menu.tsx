import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { IconButton } from './controls.tsx'
import { Icon, type IconName } from './icon.tsx'
import './menu.css'

export interface MenuItem {
  readonly label: string
  readonly icon: IconName
  readonly onSelect: () => void
}

/** A button with a list of actions. It uses the browser's popover, which closes on Esc and on a click elsewhere. */
export function Menu({
  label,
  icon = 'more',
  items,
}: {
  readonly label: string
  readonly icon?: IconName
  readonly items: readonly MenuItem[]
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLSpanElement>(null)
  const [open, setOpen] = useState(false)
  const choose = (item: MenuItem): void => {
    list.current?.hidePopover()
    item.onSelect()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    event.stopPropagation()
    const buttons: (Element | null)[] = [...(list.current?.querySelectorAll('button') ?? [])]
    const here = buttons.indexOf(document.activeElement)
    const next = buttons[(here + step + buttons.length) % buttons.length]
    if (next instanceof HTMLElement) next.focus()
  }
  return (
    <span className="menu-anchor" ref={button}>
      <IconButton
        icon={icon}
        label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        popoverTarget={id}
        onClick={(event) => event.stopPropagation()}
      />
      <div
        id={id}
        ref={list}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className="menu"
        onKeyDown={onKeyDown}
        onToggle={(event) => {
          const shown = event.newState === 'open'
          setOpen(shown)
          if (shown) place(event.currentTarget, button.current)
        }}
      >
        {items.map((item) => (
          <button key={item.label} type="button" role="menuitem" onClick={() => choose(item)}>
            <Icon name={item.icon} />
            {item.label}
          </button>
        ))}
      </div>
    </span>
  )
}

/** Positions the menu at the button, inside the window. */
function place(menu: HTMLElement, button: HTMLElement | null): void {
  if (button === null) return
  const { bottom, top, right } = button.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = menu
  menu.style.left = `${Math.max(8, Math.min(right - offsetWidth, innerWidth - offsetWidth - 8))}px`
  menu.style.top = `${bottom + offsetHeight + 8 > innerHeight ? top - offsetHeight - 4 : bottom + 4}px`
  menu.querySelector('button')?.focus()
}
