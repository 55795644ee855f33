import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The key that signs the cookies of browsers. It is kept in the data folder, for the server's user alone, so that a
 * restart signs no browser out. Deleting the file does.
 */
export function ticketKey(folder: string): Uint8Array {
  const file = join(folder, 'ticket.key')
  mkdirSync(folder, { recursive: true })
  try {
    writeFileSync(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'hex')
  // A file that was cut short or edited would sign with a key that can be guessed.
  if (key.length < 32) throw new Error(`${file} is not a key of 32 bytes; delete it, and browsers sign in again`)
  return key
}

/** A key that all servers with this secret have. */
export function sharedTicketKey(secret: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update('tickets of browsers').digest()
}
