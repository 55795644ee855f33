// The readers of bench/fanout.ts, in a process of their own: the CPU time of the server is then the server's alone.
// On { port, count } it opens `count` streams; on { frames } it answers when each stream has received that many more frames.
import { connect } from 'node:net'

let readers = []
let wanted = 0
let behind = 0

process.on('message', ({ port, count, frames }) => {
  if (port !== undefined) {
    for (const { socket } of readers) socket.destroy()
    readers = Array.from({ length: count }, () => open(port))
  }
  wanted += frames
  if (port !== undefined) wanted = frames
  behind = readers.filter(({ seen }) => seen < wanted).length
  if (behind === 0) process.send('read')
})

function open(port) {
  const reader = { socket: connect(port, '127.0.0.1'), seen: 0, newline: false }
  reader.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  reader.socket.on('error', () => {})
  reader.socket.on('data', (bytes) => {
    const missing = reader.seen < wanted
    count(reader, bytes)
    if (!missing || reader.seen < wanted) return
    behind -= 1
    if (behind === 0) process.send('read')
  })
  return reader
}

/** Frames end with an empty line; the head of an HTTP answer has no two LF in a row. */
function count(reader, bytes) {
  if (reader.newline && bytes[0] === 10) reader.seen += 1
  for (let at = bytes.indexOf('\n\n'); at >= 0; at = bytes.indexOf('\n\n', at + 2)) reader.seen += 1
  reader.newline = bytes.at(-1) === 10 && bytes.at(-2) !== 10
}
