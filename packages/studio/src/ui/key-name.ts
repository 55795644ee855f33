/** The key that starts commands on this machine. */
const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
export const command: string = isApple ? '⌘' : 'Ctrl'

/** A key together with the command key, as a label names it. */
export function withCommand(key: string): string {
  return isApple ? `⌘${key}` : `Ctrl+${key}`
}
