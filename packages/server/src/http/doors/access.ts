import { createHash, timingSafeEqual } from 'node:crypto'
import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Who may talk to us, from where. Made by the composition root. */
export interface Access {
  /** token → user. Absent: no tokens are needed, one person on loopback owns everything. */
  readonly tokens?: ReadonlyMap<string, string>
  /** Host names we answer to besides loopback ones: anything else is DNS rebinding. `0.0.0.0` and `[::]` are none. */
  readonly hosts?: readonly string[]
  /** Other origins whose pages may call us (CORS). Our own page needs no entry. */
  readonly origins?: readonly string[]
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The user a token binds; undefined where no tokens are needed. */
    principal: string | undefined
  }
}

/** The user of sessions that nobody put a name on; also adk-web's default. */
export const localUser = 'user'

const loopback = ['localhost', '127.0.0.1', '[::1]']

/**
 * Addresses to listen on, which lead to this machine when they are asked for. A browser does not trust them, so an
 * image of a page elsewhere asks with neither `Origin` nor `Sec-Fetch-Site`, and nothing tells it from a tool.
 */
const unspecified: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/** Checked before anything else is done with a request, on every route. */
export function guardAccess(app: FastifyInstance, access: Access): void {
  const hosts = new Set([...loopback, ...(access.hosts ?? []).map((host) => host.toLowerCase())])
  const origins = new Set(access.origins ?? [])
  const users = [...(access.tokens ?? [])].map(([token, user]) => ({ digest: digestOf(token), user }))
  app.decorateRequest('principal', undefined)
  app.addHook('onRequest', async (request) => {
    checkHost(request, hosts)
    checkOrigin(request, origins)
    // A CORS preflight carries no credentials; the page itself holds nothing secret and asks for the token.
    if (access.tokens === undefined || request.method === 'OPTIONS' || isOpen(request)) return
    request.principal = userOf(request.headers.authorization, users)
  })
}

/** A foreign session looks like an unknown one (SPEC 6.2): the caller turns `false` into 404. */
export function mayTouch(request: FastifyRequest, session: { readonly user: string }): boolean {
  return request.principal === undefined || request.principal === session.user
}

/** Whose sessions this request makes and lists; a name in a body or path never widens that. */
export function userFor(request: FastifyRequest, claimed?: string): string {
  if (request.principal === undefined) return claimed ?? localUser
  if (claimed !== undefined && claimed !== request.principal) throw new MillraceError('not-found', 'no such user')
  return request.principal
}

function checkHost(request: FastifyRequest, hosts: ReadonlySet<string>): void {
  const host = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec((request.headers.host ?? '').toLowerCase())?.[1]
  if (host !== undefined && unspecified.has(host)) {
    if (isTool(request)) return
    throw new MillraceError('forbidden', `${host} is every address, not a name; ask for 127.0.0.1`, { host })
  }
  if (host === undefined || !hosts.has(host)) {
    throw new MillraceError('forbidden', 'this Host is not served here; name it with --host-name', { host })
  }
}

/** Every browser puts an `Origin` on a POST, whatever it trusts: one without is of a tool, such as curl. */
function isTool({ method, headers }: FastifyRequest): boolean {
  return method === 'POST' && headers.origin === undefined && headers['sec-fetch-site'] === undefined
}

/** Cross-site requests may not act on us even when their page cannot read the answer (CSRF); GET streams act too. */
function checkOrigin(request: FastifyRequest, origins: ReadonlySet<string>): void {
  const { origin, host } = request.headers
  if (origin !== undefined) {
    if (origins.has(origin) || origin === `http://${host}` || origin === `https://${host}`) return
    throw new MillraceError('forbidden', `origin ${origin} may not call this server; allow it with --origin`, {
      origin,
    })
  }
  const site = request.headers['sec-fetch-site']
  const navigation =
    request.headers['sec-fetch-mode'] === 'navigate' && request.headers['sec-fetch-dest'] === 'document'
  if (site === undefined || site === 'same-origin' || site === 'none') return
  // A link on another site may lead to what only reads; what such a page loads by itself is refused on every route.
  if (navigation && request.method === 'GET' && !acts(request)) return
  throw new MillraceError('forbidden', 'another site may not call this server')
}

/** By the declaration of the matched route, never by the path: `/%61pi/…` matches the same route as `/api/…`. */
function acts({ routeOptions: { config } }: FastifyRequest): boolean {
  const { effect = 'read', stream = false } = config?.effect ?? {}
  return effect !== 'read' || stream
}

function userOf(header: string | undefined, users: readonly { digest: Buffer; user: string }[]): string {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  const digest = digestOf(token ?? '')
  const found = users.find((entry) => timingSafeEqual(entry.digest, digest))
  if (token === undefined || found === undefined) {
    throw new MillraceError(
      'unauthorized',
      token === undefined ? 'a bearer token is needed' : 'this token is not known',
    )
  }
  return found.user
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function isOpen({ routeOptions: { config } }: FastifyRequest): boolean {
  return config?.effect?.open === true
}
