import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A plain HTTP relay that keeps the bodies of the answers that passed, by method and path. */
export interface ByteRelay {
  readonly url: string
  /** In the order in which their answers began. */
  readonly bodies: readonly { readonly request: string; readonly chunks: Buffer[] }[]
  close(): void
}

export async function byteRelay(target: string): Promise<ByteRelay> {
  const bodies: { readonly request: string; readonly chunks: Buffer[] }[] = []
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request
    const upstream = send(new URL(url, target), { method, headers: { ...headers, host: new URL(target).host } })
    upstream.on('response', (answer) => {
      const chunks: Buffer[] = []
      bodies.push({ request: `${method} ${url}`, chunks })
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
      answer.pipe(response)
    })
    request.pipe(upstream)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
