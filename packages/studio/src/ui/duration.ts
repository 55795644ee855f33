const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

/** A short text for a duration: 640 ms, 3.2 s, 1 m 05 s, 1 h 15 m, 2 d 3 h. */
export function duration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  // What would be rounded to 60.0 s is a minute.
  if (ms < minute - 50) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  // What would be rounded to 60 m 00 s is an hour.
  if (ms < day) return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} m`
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`
}

const two = (number: number): string => String(number).padStart(2, '0')

/**
 * A moment since the start, exact enough to tell two ticks of an axis apart: 640 ms, 3.2 s, 20:58.4, 1:15:05. Ticks that
 * are less than a tenth of a second apart say so with `unit`, the milliseconds that count: 3.25 s for 10.
 */
export function moment(ms: number, unit = 100): string {
  if (unit < 100 && ms >= 1000 && ms < minute) return `${(ms / 1000).toFixed(unit < 10 ? 3 : 2)} s`
  if (ms < minute) return duration(ms)
  const seconds = (ms % minute) / 1000
  const exact =
    seconds === Math.floor(seconds)
      ? String(seconds)
      : seconds.toFixed(seconds * 10 === Math.floor(seconds * 10) ? 1 : 2)
  const padded = exact.padStart(exact.includes('.') ? exact.length + (seconds < 10 ? 1 : 0) : 2, '0')
  if (ms < hour) return `${Math.floor(ms / minute)}:${padded}`
  return `${Math.floor(ms / hour)}:${two(Math.floor((ms % hour) / minute))}:${padded}`
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export function ago(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000)
  if (seconds > -45) return 'just now'
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), 'minute')
  if (seconds > -86_400) return relative.format(Math.round(seconds / 3600), 'hour')
  return relative.format(Math.round(seconds / 86_400), 'day')
}
