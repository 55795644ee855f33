/** A short text for a duration: 640 ms, 3.2 s, 1 m 05 s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  return `${minutes} m ${String(Math.round((ms % 60_000) / 1000)).padStart(2, '0')} s`
}

/** A moment since the start, exact enough to tell two ticks of an axis apart: 640 ms, 3.2 s, 20:58.4. */
export function moment(ms: number): string {
  if (ms < 60_000) return duration(ms)
  const seconds = (ms % 60_000) / 1000
  const exact =
    seconds === Math.floor(seconds)
      ? String(seconds)
      : seconds.toFixed(seconds * 10 === Math.floor(seconds * 10) ? 1 : 2)
  return `${Math.floor(ms / 60_000)}:${exact.padStart(exact.includes('.') ? exact.length + (seconds < 10 ? 1 : 0) : 2, '0')}`
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export function ago(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000)
  if (seconds > -45) return 'just now'
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), 'minute')
  if (seconds > -86_400) return relative.format(Math.round(seconds / 3600), 'hour')
  return relative.format(Math.round(seconds / 86_400), 'day')
}
