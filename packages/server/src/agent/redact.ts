import { isObject, type Json } from '@millrace/core'

/** What stands in a record where a secret was. */
export const redacted = '[redacted]'

/** Names of headers and fields whose text is a secret: `x-goog-api-key`, `dbPassword`, `aws_session_token`. */
const secretKey =
  /^(proxy-)?authorization$|^(set-)?cookie$|(api|access|private|secret|subscription|account)[-_]?key$|(access|refresh|auth|bearer|session|security|(^|[-_])id)[-_]?token$|(^|client|app|webhook)[-_]?secret$|pass(word|wd|phrase)$|(^|[-_])credentials?$/i

const secretVariable = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PRIVATE)$/

/** A shorter value of a variable is more likely a word than a secret, and would be found in every text. */
const shortest = 8
export const isLong = (value: string): boolean => value.length >= shortest

/** The values of the variables whose names say that they are secret, and the passwords in addresses: `DATABASE_URL`. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) => [
    ...(secretVariable.test(name.toUpperCase()) ? [value] : []),
    ...passwordIn(value),
  ])
  return [...new Set(values.filter(isLong))]
}

/** As it is written in the address, and as it is used. */
function passwordIn(address: string): readonly string[] {
  const written = /^[a-z][a-z\d+.-]{0,30}:\/\/[^\s:/?#@]{0,200}:([^\s/?#@]{1,500})@/i.exec(address)?.[1]
  if (written === undefined) return []
  try {
    return [written, decodeURIComponent(written)]
  } catch {
    return [written]
  }
}

/** The text without these secrets, the longest first: one may be the beginning of another. */
export function withoutValues(text: string, secrets: Iterable<string>): string {
  const found = [...secrets].filter((secret) => text.includes(secret)).sort((a, b) => b.length - a.length)
  return found.reduce((rest, secret) => rest.replaceAll(secret, redacted), text)
}

/**
 * The value of a JSON text without secrets: known values wherever they are, and texts under keys that name a secret. The
 * bytes of files are left out too, because the log has them in the message that brought them.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): Json {
  const found = secrets.filter((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))
  const clean = (value: string): string => withoutValues(value, found)
  return JSON.parse(text, (key, value: unknown) => {
    if (typeof value === 'string') return secretKey.test(key) ? redacted : clean(value)
    if (!isObject(value)) return value
    if (key === 'inlineData' && typeof value.data === 'string')
      return { ...value, data: `(${value.data.length} characters)` }
    if (found.length === 0 || Object.keys(value).every((name) => clean(name) === name)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [clean(name), inner]))
  })
}
