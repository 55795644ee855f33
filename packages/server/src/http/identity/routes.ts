import { defined, MillraceError } from '@millrace/core'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { userFor } from '../doors/access.ts'
import { ticketCookie } from '../doors/ticket.ts'
import { documented, type Surface, type SurfaceDeps } from '../surface.ts'

const caller = z.object({
  user: z.string(),
  operator: z.boolean(),
  until: z.number().optional().describe('When the token or the cookie ends, in ms; absent: never'),
})

/** Signing in a browser: it sends its token once and gets a cookie, which works for streams and downloads, too. */
const identityRoutes =
  ({ identities, basePath, audit, now }: SurfaceDeps): FastifyPluginAsync =>
  async (app) => {
    const path = basePath === '' ? '/' : basePath

    app.get(
      '/me',
      documented({ effect: 'read', summary: 'Who the request comes from', answer: 'The user', result: caller }),
      async (request) => callerOf(request),
    )
    app.post(
      '/sign-in',
      documented({
        effect: 'write',
        signsIn: true,
        summary: 'Get a cookie for the token in Authorization, which EventSource and links send by themselves',
        answer: 'The user; the cookie is not readable by scripts and is sent by pages of this server only',
        result: caller,
      }),
      async (request, reply) => {
        const { identity } = request
        // A proxy proves the user with every request, and its users are signed out there.
        if (identities === undefined || identity === undefined || identity.by === 'proxy') return callerOf(request)
        if (identity.by === 'cookie')
          throw new MillraceError('invalid', 'a cookie does not renew itself; send the token in Authorization')
        const { name, value, until } = identities.ticketFor(request, identity)
        const seconds = Math.max(0, Math.floor((until - now()) / 1000))
        reply.header('set-cookie', `${name}=${value}; Max-Age=${seconds}; ${flagsOf(request, path)}`)
        audit({ at: now(), action: 'sign-in', user: identity.user })
        return { ...callerOf(request), until }
      },
    )
    app.post(
      '/sign-out',
      documented({ effect: 'write', summary: 'Remove the cookie', answer: 'Nothing', status: 204 }),
      async (request, reply) => {
        const name = ticketCookie(request.headers.host)
        reply.header('set-cookie', `${name}=; Max-Age=0; ${flagsOf(request, path)}`)
        return reply.code(204).send()
      },
    )
  }

/** A page over https has its origin in the request, also behind a proxy that ends TLS. */
function flagsOf({ headers }: FastifyRequest, path: string): string {
  const secure = headers.origin?.startsWith('https:') === true ? '; Secure' : ''
  return `Path=${path}; HttpOnly; SameSite=Strict${secure}`
}

/** Without proofs there is one person, who owns everything. */
function callerOf(request: FastifyRequest): z.infer<typeof caller> {
  const { operator = true, until } = request.identity ?? {}
  return { user: userFor(request), operator, ...defined({ until }) }
}

export const identitySurface: Surface = {
  tag: 'Identity',
  about: 'Who calls, and signing in a browser',
  routes: identityRoutes,
}
