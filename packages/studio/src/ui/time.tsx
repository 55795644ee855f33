import { useSettings } from '../app/settings.ts'

const formats = new Map<string, Intl.DateTimeFormat>()

function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', zone === '' ? options : { ...options, timeZone: zone })
  formats.set(key, made)
  return made
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const exact = { ...clock, fractionalSecondDigits: 3 } as const
const whole = { ...clock, day: 'numeric', month: 'short', year: 'numeric', timeZoneName: 'short' } as const

/** The time of day, in the time zone of the settings. The whole date is shown when the pointer rests on it. */
export function Time({ at, precise = false }: { readonly at: number; readonly precise?: boolean }) {
  const zone = useSettings(({ timeZone }) => timeZone)
  return (
    <time className="number" dateTime={new Date(at).toISOString()} title={format(zone, whole).format(at)}>
      {format(zone, precise ? exact : clock).format(at)}
    </time>
  )
}

/** The whole date and time as text, for a title. */
export function useDateText(at: number): string {
  const zone = useSettings(({ timeZone }) => timeZone)
  return format(zone, whole).format(at)
}
