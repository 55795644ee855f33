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

/** The value, and the letters that it is in base64, wherever in a longer text it stands: `Basic` sends user and key so. */
export function withBase64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const forms = [0, 1, 2].map((before) => {
    const letters = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // The letters at both ends also hold bits of what is around the value.
    return letters.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))
  })
  return [secret, ...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/**
 * What can only be a key, also where no variable has it because it stands in the code: what follows `Bearer` or the name of
 * the header, keys that begin as those of well-known services do, and what an address has as a key or a password.
 */
const keys =
  /(\bBearer\s{1,4})(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{8,}=*|(\bAuthorization["']?\s{0,2}[:=]\s{0,2}["']?(?:Basic|Bearer|Token)\s{1,4})[\w.~+/-]{8,}=*|\b(?:sk|pk|rk)-(?=[\w-]{0,200}\d)[\w-]{16,}|\bAIza[\w-]{30,}|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[A-Z0-9]{16}\b|([?&](?:api[-_]?key|key|access[-_]?token|token|secret)=)[^&\s"'<>]{8,}|(:\/\/[^\s:/?#@"']{0,100}:)[^\s/?#@"']{4,200}(?=@)/gi

export function withoutKeys(text: string): string {
  return text.replace(
    keys,
    (_, bearer = '', header = '', query = '', address = '') => `${bearer}${header}${query}${address}${redacted}`,
  )
}

/**
 * The value of a JSON text without secrets: known values wherever they are, what can only be a key, and texts under keys
 * that name a secret. The bytes of files are left out too, because the log has them in the message that brought them.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): Json {
  const found = secrets.filter((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))
  const clean = (value: string): string => withoutValues(value, found)
  return JSON.parse(text, (key, value: unknown) => {
    if (typeof value === 'string') return secretKey.test(key) ? redacted : withoutKeys(clean(value))
    if (!isObject(value)) return value
    if (key === 'inlineData' && typeof value.data === 'string')
      return { ...value, data: `(${value.data.length} characters)` }
    if (found.length === 0 || Object.keys(value).every((name) => clean(name) === name)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [clean(name), inner]))
  })
}
