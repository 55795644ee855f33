/** Exit code of a command that Ctrl-C ended before its work was done, as shells expect it. */
export const interruptedCode = 130

/**
 * Aborts at Ctrl-C or SIGTERM, so that a command can end what it has begun. A second signal ends the process at once.
 * Call `release` when the work is done: the listeners would stay for ever otherwise.
 */
export function ctrlC(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const take = (): void => {
    if (controller.signal.aborted) process.exit(interruptedCode)
    controller.abort()
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, take)
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) process.off(signal, take)
    },
  }
}
