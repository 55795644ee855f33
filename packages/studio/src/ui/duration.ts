/** A short text for a duration: 640 ms, 3.2 s, 1 m 05 s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  return `${minutes} m ${String(Math.round((ms % 60_000) / 1000)).padStart(2, '0')} s`
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export function ago(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000)
  if (seconds > -45) return 'just now'
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), 'minute')
  if (seconds > -86_400) return relative.format(Math.round(seconds / 3600), 'hour')
  return relative.format(Math.round(seconds / 86_400), 'day')
}
