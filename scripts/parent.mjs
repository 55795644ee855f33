// npm runs a script in a shell. The shell dies of a signal and does not pass it on, so the server would go on alone.

/** How often this process looks whether its shell is still there, in ms. */
const every = 200

/** Treats the end of npm's shell as the signal that ended it. */
export function stopWithShell() {
  if (process.env.npm_lifecycle_event === undefined) return
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, every)
  timer.unref()
}
