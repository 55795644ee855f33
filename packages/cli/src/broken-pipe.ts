let watched = false
let goesOn = false

/**
 * What happens when the output can no longer be written. A reader that has enough, as in `millrace convert … | head`, is not
 * a failure: the process exits silently with code 0. A full disk prints one sentence and exits with code 1.
 */
export function watchOutput(): void {
  if (watched) return
  watched = true
  const end = ({ code, message }: NodeJS.ErrnoException): void => {
    if (goesOn) return
    if (code === 'EPIPE') process.exit(0)
    const why = code === 'ENOSPC' ? 'the disk is full' : message
    process.stderr.write(`millrace: the output cannot be written: ${why}\n`)
    process.exit(1)
  }
  process.stdout.on('error', end)
  process.stderr.on('error', () => {
    if (!goesOn) process.exit(1)
  })
}

/** For a server, which keeps working when its output can no longer be written. */
export function outliveOutput(): void {
  goesOn = true
}
