/** Where a logger writes its lines. */
export interface LogLines {
  write(line: string): void
  /** Writes what has gathered, now: for the end of the process. */
  flush(): void
}

/**
 * Gathers the lines of one turn of the event loop into one write. A line on its own costs a system call, and a server
 * with fifty runs at once logs hundreds in a turn. Nothing waits longer than the turn.
 */
export function logLines(out: (text: string) => unknown): LogLines {
  let held = ''
  const flush = (): void => {
    const text = held
    held = ''
    if (text !== '') out(text)
  }
  return {
    write(line) {
      if (held === '') setImmediate(flush)
      held += line
    },
    flush,
  }
}
