import { isObject, type Json } from '@millrace/core'

/** What stands in a record where a secret was. */
export const redacted = '[redacted]'

const secretKey =
  /^(proxy-)?authorization$|^(set-)?cookie$|^(x-)?api[-_]?key$|^(access|refresh|auth|bearer|id)[-_]?token$|^client[-_]?secret$|^(pass(word|wd|phrase)|secret|private[-_]?key|credentials?)$/i

const secretVariable = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PRIVATE)$/

/** A shorter value of a variable is more likely a word than a secret, and would be found in every text. */
const shortest = 8
export const isLong = (value: string): boolean => value.length >= shortest

/** The values of the variables whose names say that they are secret. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) =>
    secretVariable.test(name.toUpperCase()) && isLong(value) ? [value] : [],
  )
  return [...new Set(values)]
}

/**
 * The value of a JSON text without secrets: known values wherever they are, and texts under keys that name a secret. The
 * bytes of files are left out too, because the log has them in the message that brought them.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): Json {
  let clean = text
  for (const secret of secrets) {
    const printed = JSON.stringify(secret).slice(1, -1)
    if (clean.includes(printed)) clean = clean.replaceAll(printed, redacted)
  }
  return JSON.parse(clean, (key, value: unknown) => {
    if (typeof value === 'string' && secretKey.test(key)) return redacted
    if (key === 'inlineData' && isObject(value) && typeof value.data === 'string')
      return { ...value, data: `(${value.data.length} characters)` }
    return value
  })
}
