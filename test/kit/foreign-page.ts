import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of pages that are not ours, on a port of its own. */
export interface ForeignPages {
  readonly port: number
  close(): Promise<void>
}

/** `page` makes the page for a URL; without it, all pages are empty. */
export async function foreignPages(page: (url: string) => string = () => '<!doctype html>'): Promise<ForeignPages> {
  const server = createServer(({ url = '/' }, answer) => {
    answer.setHeader('content-type', 'text/html').end(page(url))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
