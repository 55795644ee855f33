import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A network between a client and a server on loopback that can be cut: then it swallows everything and reports nothing. */
export interface CutProxy {
  readonly port: number
  cut(): void
  /** What was swallowed is lost, so the connections of before are reset. */
  mend(): void
  close(): void
}

export async function cutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client)
    // The server does not hear of a connection that is tried while the network is cut.
    if (isCut) return
    const upstream = keep(connect(target, '127.0.0.1'))
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data) => {
        if (!isCut) to.write(data)
      })
      from.on('close', () => {
        if (!isCut) to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const drop = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true
    },
    mend: () => {
      isCut = false
      drop()
    },
    close: () => {
      server.close()
      drop()
    },
  }
}
