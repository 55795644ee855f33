import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import Fastify, { type FastifyInstance } from 'fastify'

/**
 * Puts helmet's security headers on every answer. They are the same for all requests, and helmet would make them anew
 * for each one, so they are read once, from an app that has nothing else.
 */
export async function secureHeaders(app: FastifyInstance, policy: FastifyHelmetOptions): Promise<void> {
  const headers = await headersOf(policy)
  app.addHook('onRequest', (_request, reply, next) => {
    for (const [name, value] of headers) reply.raw.setHeader(name, value)
    next()
  })
}

async function headersOf(policy: FastifyHelmetOptions): Promise<readonly (readonly [string, string])[]> {
  const probe = Fastify({ pluginTimeout: 0 })
  await probe.register(helmet, policy)
  probe.get('/', (_request, reply) => {
    reply.hijack()
    reply.raw.end()
  })
  const { headers } = await probe.inject('/')
  await probe.close()
  // Node adds these to every answer by itself.
  const { date: _date, connection: _connection, 'transfer-encoding': _encoding, ...own } = headers
  return Object.entries(own).map(([name, value]) => [name, String(value)])
}
