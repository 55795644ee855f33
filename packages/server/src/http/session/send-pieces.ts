import { Readable } from 'node:stream'
import { MillraceError } from '@millrace/core'
import type { FastifyReply } from 'fastify'

/** Sends JSON that is made piece by piece. What makes it gets a signal that aborts when the client leaves. */
export async function sendPieces(
  reply: FastifyReply,
  make: (signal: AbortSignal) => AsyncGenerator<string, void>,
): Promise<FastifyReply> {
  const left = new AbortController()
  reply.raw.once('close', () => left.abort(new MillraceError('cancelled', 'the client has left')))
  const pieces = make(left.signal)
  // An error before the first piece is a problem with its own status; after it, the connection is cut.
  const first = await pieces.next()
  const second = first.done === true ? first : await pieces.next()
  reply.type('application/json; charset=utf-8')
  if (second.done === true) return reply.send(first.value ?? 'null')
  return reply.send(Readable.from(all([first.value ?? '', second.value], pieces), { objectMode: false }))
}

async function* all(begun: readonly string[], rest: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
  try {
    yield* begun
    yield* rest
  } finally {
    await rest.return()
  }
}
