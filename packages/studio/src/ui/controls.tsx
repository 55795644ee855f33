import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import './controls.css'

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement>

export function Button({
  tone = 'plain',
  icon,
  children,
  ...props
}: ButtonProps & { readonly tone?: 'plain' | 'accent' | 'bad'; readonly icon?: IconName }) {
  return (
    <button type="button" {...props} className={`button ${tone} ${props.className ?? ''}`}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A button with only an icon. The label is its accessible name and its tooltip. */
export function IconButton({
  icon,
  label,
  ...props
}: ButtonProps & { readonly icon: IconName; readonly label: string }) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...props}
      className={`icon-button ${props.className ?? ''}`}
    >
      <Icon name={icon} />
    </button>
  )
}

export type Tone = 'soft' | 'accent' | 'ok' | 'warn' | 'bad'

export function Pill({
  tone = 'soft',
  title,
  children,
}: {
  readonly tone?: Tone
  readonly title?: string
  readonly children: ReactNode
}) {
  return (
    <span className={`pill ${tone}`} title={title}>
      {typeof children === 'number' ? children.toLocaleString('en') : children}
    </span>
  )
}

export function Kbd({ children }: { readonly children: ReactNode }) {
  return <kbd className="kbd">{children}</kbd>
}

/** The empty state of a panel: what would be here, and how to get it. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
}) {
  return (
    <div className="empty">
      <Icon name={icon} size={22} />
      <h3>{title}</h3>
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}
