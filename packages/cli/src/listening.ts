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
    throw new CommandError(whyNotListening(error, { port, host }) ?? `cannot listen: ${(error as Error).message}`)
  }
  const { address, port: taken, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}

/** Why a server cannot listen, as a sentence; undefined for another error. */
export function whyNotListening(
  error: unknown,
  { port, host }: { readonly port: number; readonly host: string },
): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use; choose another with --port`
  if (code === 'EACCES' && syscall === 'listen')
    return `this user may not listen on port ${port}; choose one above 1023 with --port`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${host} is no address of this machine; choose another with --host`
  return undefined
}
