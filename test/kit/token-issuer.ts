import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** A company's single sign-on, as far as Millrace sees it: signed tokens, and the public keys at an address. */
export interface TokenIssuer {
  readonly jwks: string
  readonly issuer: string
  readonly audience: string
  /** How often the keys were asked for. */
  readonly asked: number
  /** A token of `sub`, which ends an hour after `now`; claims replace these, and undefined leaves one out. */
  sign(claims?: Record<string, unknown>, key?: CryptoKey): Promise<string>
  /** A key that the issuer has not published. */
  stranger(): Promise<CryptoKey>
  /** The public key as it is published. */
  publicKey(): Promise<object>
  /** From now on tokens have another key, and the old one is no longer published. */
  rotate(): Promise<void>
  /** Answers with an error from now on. */
  fail(): void
  close(): void
}

export async function tokenIssuer(now: () => number = Date.now): Promise<TokenIssuer> {
  const make = () => generateKeyPair('ES256', { extractable: true })
  let pair = await make()
  let kid = 1
  let asked = 0
  let failing = false
  const published = async () => ({ ...(await exportJWK(pair.publicKey)), kid: String(kid), alg: 'ES256', use: 'sig' })
  const server = createServer(async (_request, response) => {
    asked += 1
    if (failing) response.writeHead(500).end()
    else response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [await published()] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const audience = 'millrace'
  return {
    jwks: `${address}/keys`,
    issuer: address,
    audience,
    get asked() {
      return asked
    },
    sign(claims = {}, key = pair.privateKey) {
      const seconds = Math.floor(now() / 1000)
      const all = { iss: address, aud: audience, sub: 'ada', exp: seconds + 3600, ...claims }
      return new SignJWT(all as JWTPayload).setProtectedHeader({ alg: 'ES256', kid: String(kid) }).sign(key)
    },
    stranger: async () => (await make()).privateKey,
    publicKey: published,
    async rotate() {
      pair = await make()
      kid += 1
    },
    fail() {
      failing = true
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
