import { timingSafeEqual } from 'node:crypto'
import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkSameSite } from './same-site.ts'
import { configuredDigest, tokenDigest } from './token-digest.ts'

/** Who may call the server, and from where. */
export interface Access {
  /** token → user; a token may be given as `sha256:` and its hash. Without it no request needs a token: one person on loopback owns everything. */
  readonly tokens?: ReadonlyMap<string, string>
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
    /** The user whose token came with the request; undefined where no tokens are needed. */
    principal: string | undefined
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

/** Checks Host, Origin and token of every request before anything else happens to it. */
export function guardAccess(app: FastifyInstance, access: Access): void {
  const hosts = new Set([...loopback, ...(access.hosts ?? []).map((host) => host.toLowerCase())])
  const origins = new Set(access.origins ?? [])
  const users = [...(access.tokens ?? [])].map(([token, user]) => ({ digest: configuredDigest(token), user }))
  app.decorateRequest('principal', undefined)
  app.addHook('onRequest', async (request) => {
    checkHost(request, hosts)
    checkSameSite(request, origins)
    // A CORS preflight carries no credentials.
    if (access.tokens === undefined || request.method === 'OPTIONS' || isOpen(request)) return
    request.principal = userOf(request.headers.authorization, users)
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

function userOf(header: string | undefined, users: readonly { digest: Buffer; user: string }[]): string {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  const digest = tokenDigest(token ?? '')
  const found = users.find((entry) => timingSafeEqual(entry.digest, digest))
  if (token === undefined || found === undefined) {
    throw new MillraceError(
      'unauthorized',
      token === undefined ? 'send a bearer token in the Authorization header' : 'the bearer token is unknown',
    )
  }
  return found.user
}

function isOpen({ routeOptions: { config } }: FastifyRequest): boolean {
  return config?.effect?.open === true
}
