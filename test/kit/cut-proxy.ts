import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A network between a client and a server on loopback that can be cut: then it swallows everything and reports nothing. */
export interface CutProxy {
  readonly port: number
  cut(): void
  mend(): void
  close(): void
}

export async function cutProxy(target: number): Promise<CutProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isCut = false
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on('data', (data) => {
        if (!isCut) to.write(data)
      })
      from.on('error', () => from.destroy())
      from.on('close', () => {
        pairs.delete(pair)
        if (!isCut) to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const drop = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true
    },
    // What was swallowed is lost, so the connections of before are of no use.
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
