import { defined } from '@millrace/core'
import type { Access } from '@millrace/server'

/** How users prove who they are besides static tokens, and which of them are operators. */
export type IdentitySettings = Pick<Access, 'jwt' | 'proxy' | 'operators' | 'contentOperators'>

export const identityOptions = {
  operator: { type: 'string', multiple: true },
  'operator-contents': { type: 'string', multiple: true },
  jwks: { type: 'string' },
  'jwt-issuer': { type: 'string' },
  'jwt-audience': { type: 'string' },
  'jwt-user': { type: 'string' },
  'jwt-operator': { type: 'string' },
  'proxy-user': { type: 'string' },
} as const

export const identityHelp = `  --operator USER     user that may see /metrics and the lists of all users; repeatable (MILLRACE_OPERATORS, comma-separated)
  --operator-contents USER operator that may also read the sessions of others; repeatable (MILLRACE_OPERATOR_CONTENTS)
  --jwks URL          take JWTs that these keys have signed (MILLRACE_JWKS); needs the next two
  --jwt-issuer TEXT   issuer of the JWTs (MILLRACE_JWT_ISSUER)
  --jwt-audience TEXT audience of the JWTs (MILLRACE_JWT_AUDIENCE)
  --jwt-user CLAIM    claim with the name of the user (MILLRACE_JWT_USER, sub)
  --jwt-operator CLAIM=VALUE users with this value in this claim are operators (MILLRACE_JWT_OPERATOR)
  --proxy-user HEADER header in which a proxy names the user (MILLRACE_PROXY_USER, x-forwarded-user); the proxy proves
                      itself by MILLRACE_PROXY_SECRET in the header x-millrace-proxy-secret`

type Flags = Readonly<{
  [name in Exclude<keyof typeof identityOptions, 'operator' | 'operator-contents'>]?: string | undefined
}> & {
  readonly operator?: readonly string[] | undefined
  readonly 'operator-contents'?: readonly string[] | undefined
}

/** The settings, or a sentence that says what is wrong with them. */
export function readIdentity(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
): IdentitySettings | string {
  const operators = namesIn(flags.operator, env.MILLRACE_OPERATORS)
  const contentOperators = namesIn(flags['operator-contents'], env.MILLRACE_OPERATOR_CONTENTS)
  const jwt = readJwt(flags, env)
  if (typeof jwt === 'string') return jwt
  const proxy = readProxy(flags, env)
  if (typeof proxy === 'string') return proxy
  return defined({ jwt, proxy, operators, contentOperators })
}

function namesIn(flag: readonly string[] | undefined, variable = ''): readonly string[] | undefined {
  const names = [...(flag ?? []), ...variable.split(',')].map((name) => name.trim()).filter((name) => name !== '')
  return names.length === 0 ? undefined : names
}

function readJwt(flags: Flags, env: Readonly<Record<string, string | undefined>>): Access['jwt'] | string {
  const jwks = flags.jwks ?? (env.MILLRACE_JWKS || undefined)
  const issuer = flags['jwt-issuer'] ?? (env.MILLRACE_JWT_ISSUER || undefined)
  const audience = flags['jwt-audience'] ?? (env.MILLRACE_JWT_AUDIENCE || undefined)
  if (jwks === undefined && issuer === undefined && audience === undefined) return undefined
  if (jwks === undefined || issuer === undefined || audience === undefined)
    return '--jwks, --jwt-issuer and --jwt-audience belong together; give all three'
  const url = URL.canParse(jwks) ? new URL(jwks) : undefined
  const local = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url?.protocol !== 'https:' && !(local && url.protocol === 'http:'))
    return `--jwks must be an https:// address, not '${jwks}'; whoever changes the keys on the way can be any user`
  const userClaim = flags['jwt-user'] ?? (env.MILLRACE_JWT_USER || undefined)
  const operatorText = flags['jwt-operator'] ?? (env.MILLRACE_JWT_OPERATOR || undefined)
  // The name of a claim may be a URL, and a value has no `=`.
  const [, claim, value] = /^(.+)=([^=]+)$/.exec(operatorText ?? '') ?? []
  if (operatorText !== undefined && (claim === undefined || value === undefined))
    return `--jwt-operator must be CLAIM=VALUE, such as roles=operator, not '${operatorText}'`
  const operator = claim === undefined || value === undefined ? undefined : { claim, value }
  return { jwks, issuer, audience, ...defined({ userClaim, operator }) }
}

function readProxy(flags: Flags, env: Readonly<Record<string, string | undefined>>): Access['proxy'] | string {
  const secret = env.MILLRACE_PROXY_SECRET || undefined
  const userHeader = flags['proxy-user'] ?? (env.MILLRACE_PROXY_USER || undefined)
  if (secret === undefined)
    return userHeader === undefined
      ? undefined
      : '--proxy-user needs MILLRACE_PROXY_SECRET, by which the proxy proves itself'
  if (secret.length < 16) return 'MILLRACE_PROXY_SECRET must have at least 16 characters'
  if (userHeader !== undefined && !/^[\w-]+$/.test(userHeader))
    return `--proxy-user must be the name of a header, not '${userHeader}'`
  return { secret, ...defined({ userHeader }) }
}
