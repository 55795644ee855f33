import { Icon } from './icon.tsx'

/** The search field in the bar of a panel. */
export function SearchField({
  label,
  placeholder = label,
  value,
  onChange,
}: {
  readonly label: string
  readonly placeholder?: string
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <label className="search">
      <Icon name="search" size={14} />
      <input
        type="search"
        placeholder={placeholder}
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}
