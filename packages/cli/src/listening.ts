import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CommandError } from './command-error.ts'

/** Starts a server and resolves with its URL. */
export async function listening(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<string> {
  const ready = once(server, 'listening')
  server.listen(port, host)
  try {
    await ready
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new CommandError(
      code === 'EADDRINUSE'
        ? `port ${port} on ${host} is in use; choose another with --port`
        : `cannot listen: ${message}`,
    )
  }
  const { address, port: taken, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}
