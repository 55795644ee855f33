import type { MoveOptions } from './move-store.ts'

interface Screen {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const width = 30

/** A bar that grows in one line of a terminal; elsewhere one line for each tenth, so that a file stays short. */
export function moveProgress(screen: Screen): MoveOptions['onProgress'] {
  let shown = ''
  return (phase, events, of) => {
    const share = of === 0 ? 1 : Math.min(1, events / of)
    const percent = Math.floor(share * 100)
    const figures = `${phase} ${events.toLocaleString('en')} of ${of.toLocaleString('en')} events`
    if (screen.isTTY !== true) {
      const line = `${phase} ${Math.floor(percent / 10) * 10} %`
      if (line !== shown) screen.write(`${line}: ${figures}\n`)
      shown = line
      return
    }
    const full = Math.round(share * width)
    const line = `[${'#'.repeat(full)}${'.'.repeat(width - full)}] ${percent} %  ${figures}`
    if (line === shown) return
    screen.write(`\r${line.padEnd(shown.length)}${share === 1 ? '\n' : ''}`)
    shown = share === 1 ? '' : line
  }
}
