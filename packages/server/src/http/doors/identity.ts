import { randomBytes, timingSafeEqual } from 'node:crypto'
import { defined, MillraceError } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import { type JwtAccess, jwtReader } from './jwt.ts'
import { cookieOf, readTicket, signTicket, type Ticket, ticketCookie } from './ticket.ts'
import { configuredDigest, tokenDigest } from './token-digest.ts'

/** Who a request comes from. */
export interface Identity {
  readonly user: string
  /** Operators see figures, lists over users and may delete a user; not what is in the sessions of others. */
  readonly operator: boolean
  /** Whether this operator may read what is in the sessions of others. */
  readonly readsContents?: boolean
  /** When the proof of it ends, in ms; absent for proofs without an end. */
  readonly until?: number
  readonly by: 'token' | 'jwt' | 'proxy' | 'cookie'
}

/** Users that a proxy in front of the server has signed in. */
export interface ProxyAccess {
  /** The proxy proves itself by this secret, in `secretHeader` of every request. */
  readonly secret: string
  /** Default: `x-millrace-proxy-secret`. */
  readonly secretHeader?: string
  /** The header with the name of the user, which the proxy must set and never pass on. Default: `x-forwarded-user`. */
  readonly userHeader?: string
}

/** How users prove who they are. Without `tokens`, `jwt` and `proxy` no proof is needed. */
export interface IdentityAccess {
  /** token → user; a token may be given as `sha256:` and its hash. */
  readonly tokens?: ReadonlyMap<string, string>
  readonly jwt?: JwtAccess
  readonly proxy?: ProxyAccess
  /** The users that are operators, however they prove who they are. */
  readonly operators?: readonly string[]
  /** The operators that may also read the sessions of others; each such read is in the audit. */
  readonly contentOperators?: readonly string[]
  /** Signs the cookies of browsers. Default: a new one with every start, which signs all browsers out. */
  readonly ticketKey?: Uint8Array
}

/** Reads who a request comes from, and lets browsers keep that in a cookie. */
export interface Identities {
  /** Fails with `unauthorized` where the request proves nothing. */
  of(request: FastifyRequest): Promise<Identity>
  /** A cookie for this identity: its name, its value, and when it ends in ms. */
  ticketFor(
    request: FastifyRequest,
    identity: Identity,
  ): { readonly name: string; readonly value: string; until: number }
}

/** How long a browser stays signed in at most, in ms. */
const longestTicket = 12 * 60 * 60_000

/** The longest name of a user; it is part of keys and of the names of folders. */
const longestUser = 200

/** Whether a request must prove who it comes from. */
export function needsProof({ tokens, jwt, proxy }: IdentityAccess): boolean {
  return tokens !== undefined || jwt !== undefined || proxy !== undefined
}

/** Undefined where no proof is needed: one person on loopback owns everything. */
export function openIdentities(access: IdentityAccess, now: () => number): Identities | undefined {
  if (!needsProof(access)) return undefined
  const { tokens, jwt, proxy } = access
  const users = [...(tokens ?? [])].map(([token, user]) => ({ digest: configuredDigest(token), user }))
  // A token is looked up by its hash, which takes the same time for any number of users. The time reveals nothing about a
  // token, because a sender cannot choose a hash. If two users have the same token, it belongs to the first.
  const byName = new Map(users.toReversed().map((entry) => [nameOfDigest(entry.digest), entry]))
  const holderOf = (token: string) => {
    const sent = tokenDigest(token)
    const known = byName.get(nameOfDigest(sent))
    return known !== undefined && timingSafeEqual(known.digest, sent) ? known : undefined
  }
  const operators = new Set(access.operators ?? [])
  const contentOperators = new Set(access.contentOperators ?? [])
  const readJwt = jwt && jwtReader(jwt, now)
  const readProxy = proxy && proxyReader(proxy)
  const key = access.ticketKey ?? randomBytes(32)

  const byBearer = async (header: string): Promise<Identity> => {
    const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
    if (token === undefined) throw unproven()
    const user = holderOf(token)?.user
    if (user !== undefined) return { user, operator: false, by: 'token' }
    // A token of an issuer has three parts; no other text is worth asking for its keys.
    if (readJwt !== undefined && token.split('.').length === 3) return readJwt(token)
    throw new MillraceError('unauthorized', 'the bearer token is unknown')
  }
  const byCookie = ({ headers }: FastifyRequest): Identity => {
    const text = cookieOf(headers.cookie, ticketCookie(headers.host))
    if (text === undefined) throw unproven()
    const ticket = readTicket(key, text, now())
    const known = ticket?.token === undefined || users.some(({ digest }) => nameOfDigest(digest) === ticket.token)
    if (ticket === undefined || !known) throw new MillraceError('unauthorized', 'signed out; sign in again')
    const { user, operator, until } = ticket
    return { user, operator, until, by: 'cookie' }
  }
  const find = async (request: FastifyRequest): Promise<Identity> => {
    const { authorization } = request.headers
    return readProxy?.(request) ?? (authorization === undefined ? byCookie(request) : byBearer(authorization))
  }
  return {
    async of(request) {
      const identity = await find(request)
      checkUser(identity.user)
      const operator = identity.operator || operators.has(identity.user)
      return { ...identity, operator, readsContents: operator && contentOperators.has(identity.user) }
    },
    ticketFor({ headers }, { user, operator, until = Number.POSITIVE_INFINITY }) {
      const end = Math.min(until, now() + longestTicket)
      const own = holderOf(/^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')
      const ticket: Ticket = {
        user,
        // An operator by name is looked up with every request, so that a restart without the name takes the role away.
        operator: operator && !operators.has(user),
        until: end,
        ...defined({ token: own && nameOfDigest(own.digest) }),
      }
      return { name: ticketCookie(headers.host), value: signTicket(key, ticket), until: end }
    },
  }
}

const unproven = (): MillraceError =>
  new MillraceError('unauthorized', 'send a bearer token in the Authorization header')

/** Undefined where the request does not come from the proxy. */
function proxyReader(proxy: ProxyAccess): (request: FastifyRequest) => Identity | undefined {
  const { secretHeader = 'x-millrace-proxy-secret', userHeader = 'x-forwarded-user' } = proxy
  const secret = tokenDigest(proxy.secret)
  return ({ raw }) => {
    const given = valuesOf(raw, secretHeader)
    if (given.length === 0) return undefined
    if (!timingSafeEqual(secret, tokenDigest(given.join(', '))))
      throw new MillraceError('unauthorized', `${secretHeader} is not the secret of the proxy`)
    const [user, ...more] = valuesOf(raw, userHeader)
    // A client may send the header too; a proxy that adds its own instead of replacing it would let the client choose.
    if (user === undefined || more.length > 0)
      throw new MillraceError('unauthorized', `the proxy must set ${userHeader} once, and replace what clients send`)
    return { user, operator: false, by: 'proxy' }
  }
}

/** Every value of a header as it came: `headers` joins the values of a header that came twice. */
function valuesOf({ rawHeaders }: FastifyRequest['raw'], name: string): readonly string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name.toLowerCase())
}

/** The empty name stands for values of all users, and U+0000 does not survive in a store. */
function checkUser(user: string): void {
  if (user !== '' && user.length <= longestUser && !/[\p{Cc}\p{Surrogate}]/u.test(user)) return
  throw new MillraceError(
    'unauthorized',
    `the name of the user must be text of 1 to ${longestUser} characters without control characters`,
  )
}

const nameOfDigest = (digest: Buffer): string => digest.subarray(0, 12).toString('base64url')
