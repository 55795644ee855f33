import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { memoryLog } from '@millrace/core'
import { createApp } from '@millrace/server'
import { version } from './version.ts'

const page = fileURLToPath(new URL('../page/', import.meta.url))

export async function serve(args: readonly string[]): Promise<number> {
  const settings = readSettings(args)
  if (typeof settings === 'string') {
    console.error(settings)
    return 2
  }
  const app = await createApp({
    log: memoryLog(Date.now),
    now: Date.now,
    newId: randomUUID,
    version,
    ...(existsSync(page) ? { page } : {}),
  })
  let address: string
  try {
    address = await app.listen(settings)
  } catch (error) {
    console.error(`cannot listen on ${settings.host}:${settings.port}: ${(error as Error).message}`)
    return 1
  }
  console.log(`Millrace ${version} is listening on ${address}`)
  await stopSignal()
  await app.close()
  return 0
}

interface Settings {
  readonly host: string
  readonly port: number
}

/** Flags win over env; a bad value is a sentence, not a stack trace. */
function readSettings(args: readonly string[]): Settings | string {
  let values: { port?: string; host?: string }
  try {
    values = parseArgs({ args: [...args], options: { port: { type: 'string' }, host: { type: 'string' } } }).values
  } catch (error) {
    return (error as Error).message
  }
  const port = Number(values.port ?? process.env.PORT ?? 8000)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return `the port must be 0 to 65535, not ${values.port ?? process.env.PORT}`
  return { port, host: values.host ?? process.env.HOST ?? '127.0.0.1' }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}
