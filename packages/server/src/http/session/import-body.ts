import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ImportReading, ReadImport } from '../../recording/import-thread.ts'
import type { HttpDeps } from '../deps.ts'
import { refuse } from '../doors/problem.ts'

/** The routes of this app get the bodies of these types as they come, instead of read. */
export function takeBodiesUnread(app: FastifyInstance, types: readonly string[]): void {
  app.removeContentTypeParser('application/json')
  for (const type of types) app.addContentTypeParser(type, (_request, body, done) => done(null, body))
}

/** Reads the body of an import, a long one in a thread. A file that cannot be read is a 422 with the reason, one that is too large a 413. */
export async function readImportBody<About, T>(
  { recordings, limits }: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  reading: ImportReading<About>,
  use: (read: ReadImport<About>) => Promise<T>,
): Promise<T> {
  const left = new AbortController()
  reply.raw.once('close', () => left.abort(new MillraceError('cancelled', 'the client has left')))
  const body = bounded((request.body ?? []) as AsyncIterable<Uint8Array>, limits.importBody)
  try {
    return await recordings.read(body, reading, { user: request.principal ?? request.ip, signal: left.signal }, use)
  } catch (error) {
    throw unreadable(error)
  }
}

async function* bounded(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array, void> {
  let size = 0
  for await (const bytes of body) {
    size += bytes.length
    if (size > most) throw refuse('too-large', `an import has at most ${most} bytes; split it`)
    yield bytes
  }
}

function unreadable(error: unknown): unknown {
  if (!(error instanceof MillraceError) || error.facts.http !== undefined) return error
  if (error.code === 'limit' && error.facts.retryAfter === undefined)
    return refuse('too-large', error.message, error.facts)
  return error.code === 'invalid' ? refuse('unprocessable', error.message, error.facts) : error
}
