import { MillraceError } from '@millrace/core'
import type { FastifyRequest } from 'fastify'

/** Refuses requests that a page of another site caused, even when that page could not read the answer (CSRF). */
export function checkSameSite(request: FastifyRequest, origins: ReadonlySet<string>): void {
  const { origin, host } = request.headers
  if (origin !== undefined) {
    if (origins.has(origin) || isOwn(origin, host)) return
    throw new MillraceError('forbidden', `origin ${origin} may not call this server; allow it with --origin`, {
      origin,
    })
  }
  const site = request.headers['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return
  if (site === undefined) {
    if (!acts(request) || !isBrowser(request) || provesOwnPage(request, origins)) return
    throw new MillraceError(
      'forbidden',
      'this browser does not say which page caused the request: use https or a loopback address, or send a header such as x-requested-with',
    )
  }
  // A link on another site may lead to what only reads; what such a page loads by itself is refused on every route.
  if (isNavigation(request) && request.method === 'GET' && !acts(request)) return
  throw new MillraceError('forbidden', 'pages of other sites may not call this server')
}

/**
 * Browsers send `Sec-Fetch-Site` to https and to loopback only, and no `Origin` with an image, a script, a link or a GET
 * of the own page. So over plain http these look alike, except for what a page elsewhere cannot send: a header beyond the
 * few that need no preflight, or the own address as the page that refers.
 */
function provesOwnPage({ headers }: FastifyRequest, origins: ReadonlySet<string>): boolean {
  if (headers.authorization !== undefined || headers['x-requested-with'] !== undefined) return true
  const { referer = '' } = headers
  const from = URL.canParse(referer) ? new URL(referer).origin : ''
  return from !== '' && (isOwn(from, headers.host) || origins.has(from))
}

/** Every browser calls itself Mozilla, and a page cannot change that for an image, a script, a link or a form. */
function isBrowser({ headers }: FastifyRequest): boolean {
  return /^mozilla\//i.test(headers['user-agent'] ?? '')
}

function isNavigation({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}

function isOwn(origin: string, host: string | undefined): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}

/** By the declaration of the matched route, never by the path: `/%61pi/…` matches the same route as `/api/…`. */
function acts({ routeOptions: { config } }: FastifyRequest): boolean {
  const { effect = 'read', stream = false } = config?.effect ?? {}
  return effect !== 'read' || stream
}
