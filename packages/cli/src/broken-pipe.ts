let watched = false

/**
 * Ends the process quietly when the reader of its output leaves, as `millrace convert … | head` does. A reader that has
 * enough is no failure, so the code is 0.
 */
export function endOnBrokenPipe(): void {
  if (watched) return
  watched = true
  const end = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  }
  process.stdout.on('error', end)
  process.stderr.on('error', end)
}

/** For a server, whose work goes on when the reader of its lines leaves. */
export function ignoreBrokenPipe(): void {
  if (watched) return
  watched = true
  const ignore = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error
  }
  process.stdout.on('error', ignore)
  process.stderr.on('error', ignore)
}
