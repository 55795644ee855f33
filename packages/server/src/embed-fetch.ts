import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server, request as send } from 'node:http'
import { platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface WebFetch {
  fetch(request: Request): Promise<Response>
  close(): Promise<void>
}

/** Statuses that a `Response` may not have a body with. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Answers web requests by a handler of `node:http`. They go through a socket of this process, which other users of the
 * machine cannot open: so streams, back pressure and a reader that leaves are those of a real connection.
 */
export function webFetch(handler: RequestListener): WebFetch {
  let opened: Promise<{ readonly server: Server; readonly path: string }> | undefined
  const open = async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-'))
    const path = platform() === 'win32' ? `\\\\.\\pipe\\${folder.replaceAll('\\', '-')}` : join(folder, 'socket')
    const server = createServer(handler)
    server.listen(path)
    await once(server, 'listening')
    // The program may end while nothing but this socket is open.
    server.unref()
    return { server, path }
  }
  return {
    async fetch(request) {
      opened ??= open()
      const { path: socketPath } = await opened
      const { pathname, search, host } = new URL(request.url)
      const headers = { host, ...Object.fromEntries(request.headers) }
      const outgoing = send({ socketPath, path: pathname + search, method: request.method, headers, agent: false })
      const leave = (): void => void outgoing.destroy()
      request.signal.addEventListener('abort', leave, { once: true })
      if (request.signal.aborted) leave()
      const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
      if (request.body === null) outgoing.end()
      // A refusal may come before the body was sent whole; the answer is what counts then.
      else void pipeline(Readable.fromWeb(request.body as never), outgoing).catch(() => undefined)
      const [answer] = await answered
      return responseOf(answer)
    },
    async close() {
      const { server, path } = (await opened) ?? {}
      if (server === undefined || path === undefined) return
      server.close()
      server.closeAllConnections()
      rmSync(dirname(path), { recursive: true, force: true })
    },
  }
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 500, rawHeaders } = answer
  const headers = new Headers()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    // These are about the connection, which ends here.
    if (!/^(connection|keep-alive|transfer-encoding)$/i.test(name)) headers.append(name, rawHeaders[i + 1] ?? '')
  }
  if (bodiless.has(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers })
}
