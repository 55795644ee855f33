import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * What the cookie of a signed-in browser says. It carries no token: the cookie is signed by this server, and ends at a
 * time of its own.
 */
export interface Ticket {
  readonly user: string
  readonly operator: boolean
  /** When it ends, in ms. */
  readonly until: number
  /** Which static token it came from. Without that token the ticket is void, so that a removed token signs out. */
  readonly token?: string
}

const prefix = 'millrace'

/** One cookie for each port: browsers send the cookies of a host to all of its ports. */
export function ticketCookie(host: string | undefined): string {
  const port = /:(\d+)$/.exec(host ?? '')?.[1]
  return port === undefined ? prefix : `${prefix}-${port}`
}

/** The ticket as text, signed with the key. */
export function signTicket(key: Uint8Array, ticket: Ticket): string {
  const body = Buffer.from(JSON.stringify(ticket)).toString('base64url')
  return `${body}.${macOf(key, body).toString('base64url')}`
}

/** The ticket, unless it was changed, signed with another key, or has ended. */
export function readTicket(key: Uint8Array, text: string, now: number): Ticket | undefined {
  const [body = '', mac = '', ...rest] = text.split('.')
  const given = Buffer.from(mac, 'base64url')
  const wanted = macOf(key, body)
  if (rest.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  const ticket = JSON.parse(Buffer.from(body, 'base64url').toString()) as Ticket
  return ticket.until > now ? ticket : undefined
}

const macOf = (key: Uint8Array, body: string): Buffer => createHmac('sha256', key).update(`ticket ${body}`).digest()

/** The value of one cookie of a request. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}
