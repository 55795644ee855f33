import { MillraceError } from '@millrace/core'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { Identity } from './identity.ts'

/** Users whose tokens another server issues, such as a company's single sign-on. */
export interface JwtAccess {
  /** The address of the issuer's public keys (JWKS). They are read again when a token names a key that is not known. */
  readonly jwks: string
  /** `iss` of every token. */
  readonly issuer: string
  /** `aud` of every token: tokens that the issuer made for other services are refused. */
  readonly audience: string
  /** The claim with the name of the user. Default: `sub`. */
  readonly userClaim?: string
  /** Users with this value in this claim are operators. The claim may be nested, such as `realm_access.roles`. */
  readonly operator?: { readonly claim: string; readonly value: string }
  /** By how many seconds the clock of the issuer may differ. Default: 30. */
  readonly clockSkew?: number
  /** Milliseconds between two reads of the keys because of unknown ones. Default: 30,000. */
  readonly cooldown?: number
}

/** Reads a token. It fails with `unauthorized`, or with `unavailable` where the keys of the issuer cannot be read. */
export type JwtReader = (token: string) => Promise<Identity>

/** Signatures with a public key. A secret that both sides know would let everyone who can check a token make one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** How long the keys may take to arrive, and how long they are used before they are read again, in ms. */
const fetchTimeout = 5_000
const longestUse = 10 * 60_000

export function jwtReader(access: JwtAccess, now: () => number): JwtReader {
  const { issuer, audience, userClaim = 'sub', operator, clockSkew = 30 } = access
  // Imported with the first token, because most servers have no issuer.
  let opened: Promise<{ readonly verify: typeof import('jose').jwtVerify; readonly keys: JWTVerifyGetKey }> | undefined
  const open = async () => {
    const { createRemoteJWKSet, jwtVerify } = await import('jose')
    const keys = createRemoteJWKSet(new URL(access.jwks), {
      timeoutDuration: fetchTimeout,
      cooldownDuration: access.cooldown ?? 30_000,
      cacheMaxAge: longestUse,
    })
    return { verify: jwtVerify, keys }
  }
  return async (token) => {
    opened ??= open()
    const { verify, keys } = await opened
    const { payload } = await verify(token, keys, {
      issuer,
      audience,
      algorithms,
      clockTolerance: clockSkew,
      currentDate: new Date(now()),
      requiredClaims: ['exp'],
    }).catch((error: unknown) => {
      throw refusalOf(error)
    })
    const user = claimAt(payload, userClaim)
    if (typeof user !== 'string') throw new MillraceError('unauthorized', `the token has no claim ${userClaim}`)
    return {
      user,
      operator: operator !== undefined && holds(claimAt(payload, operator.claim), operator.value),
      until: ((payload.exp ?? 0) + clockSkew) * 1000,
      by: 'jwt',
    }
  }
}

/** What is wrong with the token is told; everything else is about the keys, which the caller cannot repair. */
function refusalOf(error: unknown): MillraceError {
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string }
  if (code === 'ERR_JWT_EXPIRED') return new MillraceError('unauthorized', 'the token has expired; get a new one')
  if (/^ERR_(JWT|JWS|JOSE_ALG|JOSE_NOT_SUPPORTED|JWKS_NO_MATCHING|JWKS_MULTIPLE)/.test(code))
    return new MillraceError('unauthorized', `the token is not accepted: ${message}`)
  return new MillraceError('unavailable', 'the keys of the token issuer cannot be read; retry later', {}, error)
}

/** The claim of this name, or at this path. Names may have dots themselves, so the whole name is looked up first. */
function claimAt(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name]
  return name.split('.').reduce<unknown>((value, key) => {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? Reflect.get(value, key)
      : undefined
  }, payload)
}

/** A list, a single value, or the words of a text, as `scope` has them. */
function holds(claim: unknown, value: string): boolean {
  if (Array.isArray(claim)) return claim.includes(value)
  return typeof claim === 'string' && (claim === value || claim.split(' ').includes(value))
}
