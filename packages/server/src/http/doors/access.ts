import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GuessLimit } from './guess-limit.ts'
import type { Identities, Identity, IdentityAccess } from './identity.ts'
import { isVisit } from './methods.ts'
import { checkSameSite } from './same-site.ts'

/** Who may call the server, and from where. */
export interface Access extends IdentityAccess {
  /**
   * Values of `Host` that are answered besides loopback; any other may be DNS rebinding. `0.0.0.0` and `[::]` are
   * ignored here.
   */
  readonly hosts?: readonly string[]
  /** Other origins whose pages may call the server (CORS). Its own page needs no entry. */
  readonly origins?: readonly string[]
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The user that the request comes from; undefined where no proof of that is needed. */
    principal: string | undefined
    identity: Identity | undefined
  }
}

/** The user of sessions that name none; also adk-web's default. */
export const localUser = 'user'

const loopback = ['localhost', '127.0.0.1', '[::1]']

/**
 * Addresses to listen on. A browser that requests them reaches this machine, but sends neither `Origin` nor
 * `Sec-Fetch-Site` with an image of a foreign page, so such a request cannot be distinguished from one of a tool.
 */
const unspecified: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/** Checks Host, Origin and user of every request before anything else happens to it. */
export function guardAccess(
  app: FastifyInstance,
  access: Access,
  identities: Identities | undefined,
  now: () => number,
): void {
  const guesses = new GuessLimit(now)
  const hosts = new Set([...loopback, ...(access.hosts ?? []).map((host) => host.toLowerCase())])
  const origins = new Set(access.origins ?? [])
  app.decorateRequest('principal', undefined)
  app.decorateRequest('identity', undefined)
  app.addHook('onRequest', async (request, reply) => {
    checkHost(request, hosts)
    checkSameSite(request, origins)
    // A CORS preflight carries no credentials.
    if (identities === undefined || request.method === 'OPTIONS' || isOpen(request)) return
    // A browser that was led nowhere gets the page, which needs no token and says so.
    if (request.is404 && isVisit(request)) return
    const signsIn = request.routeOptions.config?.effect?.signsIn === true
    if (signsIn) guesses.check(request.ip)
    const identity = await identities.of(request).catch((error: unknown) => {
      if (signsIn && error instanceof MillraceError && error.code === 'unauthorized') guesses.failed(request.ip)
      throw error
    })
    if (identity.by === 'cookie') {
      checkOwnPage(request)
      // Caches know that an answer to an `Authorization` is for one user, but not that one to a cookie is.
      reply.header('cache-control', 'no-store')
    }
    request.identity = identity
    request.principal = identity.user
    if (isForOperators(request) && !identity.operator)
      throw new MillraceError('forbidden', 'only operators may use this route; name them with --operator')
  })
}

/** Another user's session looks like an unknown one (SPEC 6.2): the caller turns `false` into a 404. */
export function mayTouch(request: FastifyRequest, session: { readonly user: string }): boolean {
  return request.principal === undefined || request.principal === session.user
}

/** The user whose sessions this request creates and lists. A name in a body or path cannot select another user. */
export function userFor(request: FastifyRequest, claimed?: string): string {
  if (request.principal === undefined) return claimed ?? localUser
  if (claimed !== undefined && claimed !== request.principal) throw new MillraceError('not-found', 'no such user')
  return request.principal
}

function checkHost(request: FastifyRequest, hosts: ReadonlySet<string>): void {
  const host = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec((request.headers.host ?? '').toLowerCase())?.[1]
  if (host !== undefined && unspecified.has(host)) {
    if (isTool(request)) return
    throw new MillraceError('forbidden', `${host} means every address and is not served as a Host; use 127.0.0.1`, {
      host,
    })
  }
  if (host === undefined || !hosts.has(host)) {
    throw new MillraceError('forbidden', 'this Host is not served; allow it with --host-name', { host })
  }
}

/** Every browser sends an `Origin` with every POST, so a POST without one comes from a tool such as curl. */
function isTool({ method, headers }: FastifyRequest): boolean {
  return method === 'POST' && headers.origin === undefined && headers['sec-fetch-site'] === undefined
}

/**
 * A browser sends a cookie with every request to this host, also with those that a page on another port caused. So what
 * acts needs a sign of our own page. Every POST has an `Origin`; a GET has `Sec-Fetch-Site` over https and on loopback.
 */
function checkOwnPage(request: FastifyRequest): void {
  const { method, headers, query } = request
  const { origin, host } = headers
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
    throw new MillraceError('forbidden', 'the cookie is for pages of this server; send a token in Authorization')
  const only = method === 'GET' || method === 'HEAD'
  const { effect = 'read' } = request.routeOptions.config?.effect ?? {}
  const cancels = (query as { disconnect?: unknown }).disconnect === 'cancel'
  if (only && effect !== 'start' && !cancels) return
  const proven = only ? headers['sec-fetch-site'] === 'same-origin' : origin !== undefined
  if (proven || headers['x-requested-with'] !== undefined) return
  throw new MillraceError(
    'forbidden',
    'a cookie alone may not act: use https, or send the header x-requested-with, which pages of other sites cannot send',
  )
}

function isForOperators({ routeOptions: { config } }: FastifyRequest): boolean {
  return config?.effect?.operator === true
}

function isOpen({ routeOptions: { config } }: FastifyRequest): boolean {
  return config?.effect?.open === true
}
