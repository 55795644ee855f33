// Preloaded into a server (node --import): notes how long its main thread works without a break. It counts processor time
// of that thread, so that other processes of a busy machine change nothing. SIGUSR2 writes and resets what was noted.
import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.env.LOOP_WATCH_FILE
if (isMainThread && file !== undefined) {
  const stat = `/proc/${process.pid}/task/${process.pid}/schedstat`
  const worked = () => Number(readFileSync(stat, 'utf8').split(' ', 1)[0]) / 1e6
  let last = worked()
  let stretches = []
  setInterval(() => {
    const now = worked()
    stretches.push(now - last)
    last = now
  }, 5).unref()
  process.on('SIGUSR2', () => {
    stretches.sort((a, b) => b - a)
    const sum = stretches.reduce((all, one) => all + one, 0)
    writeFileSync(file, JSON.stringify({ longest: stretches.slice(0, 20), turns: stretches.length, sum }))
    stretches = []
  })
}
