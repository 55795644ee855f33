import { connect } from 'node:net'

// So many readers, in three dialects, each of which must hear every token of its run once, in order, and then the end.
const [port = '', readers = '', runs = '', tokens = ''] = process.argv.slice(2)
const dialects = ['adk', 'ag-ui', 'studio-delta']
/** Delays in milliseconds, counted: 8 million single numbers would be a load of their own. */
const delays = new Map<number, number>()
let connected = 0
let ended = 0
const faults = { lost: 0, doubled: 0, cut: 0 }

for (let i = 0; i < Number(readers); i += 1) open(i)

function open(i: number): void {
  const session = `s${i % Number(runs)}`
  const path = `/sessions/${session}/events?dialect=${dialects[i % dialects.length]}&run=${session}-r`
  const socket = connect(Number(port), '127.0.0.1')
  socket.setEncoding('latin1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  let next = 0
  let rest = ''
  let head = false
  socket.on('data', (text: string) => {
    rest += text
    if (!head) {
      head = true
      connected += 1
      if (connected === Number(readers)) process.send?.({ connected })
    }
    const now = Date.now()
    const from = Math.max(0, rest.lastIndexOf('\n\n') + 2)
    for (const [, index = '', at = ''] of rest.slice(0, from).matchAll(/\[(\d+) (\d{13})\]/g)) {
      const heard = Number(index)
      if (heard > next) faults.lost += heard - next
      if (heard < next) faults.doubled += 1
      next = Math.max(next, heard + 1)
      const delay = now - Number(at)
      delays.set(delay, (delays.get(delay) ?? 0) + 1)
    }
    rest = rest.slice(from)
    // The last chunk of HTTP: the server ended the stream, because the run is over.
    if (!rest.includes('0\r\n\r\n') && !text.endsWith('0\r\n\r\n')) return
    socket.end()
    ended += 1
    if (next < Number(tokens)) faults.lost += Number(tokens) - next
    if (ended === Number(readers)) process.send?.({ ended, faults, delays: [...delays] })
  })
  socket.on('close', () => {
    if (!head) faults.cut += 1
  })
  socket.on('error', () => {
    faults.cut += 1
  })
}
