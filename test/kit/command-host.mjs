// Runs commands of `main` one after the other in this process, so that what one has imported is there for the next.
// usage: fork('test/kit/command-host.mjs', ['<main.js>']); a message { args, stdin, env, cwd, tty, columns } is answered
// with { code, out, err }
import { PassThrough, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

// Of the whole process: a module may hold on to the streams that were there when it was imported.
const written = { stdout: [], stderr: [] }
for (const [name, chunks] of Object.entries(written)) {
  const write = (chunk, _encoding, done) => {
    chunks.push(chunk)
    done()
  }
  Object.defineProperty(process, name, { value: new Writable({ write }), configurable: true })
}

const { main } = await import(pathToFileURL(process.argv[2]).href)
const { exit } = process
process.on('disconnect', () => exit())
let last = Promise.resolve()
process.on('message', (asked) => {
  last = last.then(async () => process.send(await ended(asked)))
})
process.send('ready')

async function ended({ args, stdin: text, env, cwd, tty, columns }) {
  const stdin = new PassThrough().end(text)
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  for (const name of ['stdin', 'stdout', 'stderr']) {
    const isTTY = tty.includes(name) ? true : undefined
    Object.assign(process[name], { isTTY, columns: isTTY && columns })
  }
  for (const name of Object.keys(written)) process[name].removeAllListeners()
  process.chdir(cwd)
  process.env = { ...env }
  const code = await new Promise((resolve, reject) => {
    process.exit = (wanted) => resolve(wanted ?? 0)
    main(args).then(resolve, reject)
  })
  // A text that was written last waits for the turn of the event loop.
  await setImmediate()
  await setImmediate()
  return { code, out: taken('stdout'), err: taken('stderr') }
}

function taken(name) {
  return Buffer.concat(written[name].splice(0)).toString()
}
