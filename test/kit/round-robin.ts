import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A dumb proxy in front of several servers: each connection goes to the next one that takes it. */
export async function roundRobin(ports: readonly number[]): Promise<{ readonly port: number; close(): void }> {
  let turn = 0
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    const attempt = (left: number): void => {
      const port = ports[turn++ % ports.length] ?? 0
      const upstream = connect(port, '127.0.0.1')
      upstream.once('connect', () => client.pipe(upstream).pipe(client))
      upstream.on('error', () => {
        if (upstream.connecting || upstream.bytesWritten > 0 || left === 0) client.destroy()
        else attempt(left - 1)
      })
      upstream.on('close', () => client.destroy())
      client.once('close', () => upstream.destroy())
    }
    attempt(ports.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}
