import { createHash } from 'node:crypto'

/**
 * The SHA-256 of a token. Who sets the server up may give the hash itself, as `sha256:` and 64 digits; a client that
 * sends such a text has sent no token, because its hash is another.
 */
export function configuredDigest(token: string): Buffer {
  const [, digits] = /^sha256:([\da-f]{64})$/i.exec(token) ?? []
  return digits === undefined ? tokenDigest(token) : Buffer.from(digits, 'hex')
}

export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
