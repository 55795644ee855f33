import { MillraceError } from '@millrace/core'
import { sqliteLog } from '../../../packages/server/src/store/sqlite/log.ts'

/** Opens a log and appends until that is refused; then prints one line of JSON: the refusal and what can be read. */
export async function main([folder = '']: readonly string[]): Promise<void> {
  let taken = 0
  try {
    const log = await sqliteLog({ folder, now: Date.now })
    await log.create({ id: 's', user: 'u', agent: 'a' })
    const refused = await fill(async (message) => {
      const rows = await log.append('s', [
        { run: '', event: { kind: 'log', level: 'info', message } },
        { run: '', event: { kind: 'log', level: 'info', message: 'pair' } },
      ])
      taken = rows.at(-1)?.seq ?? taken
    })
    const readable = (await log.read('s', { after: 0 })).length
    const info = await log.get('s')
    await log.close()
    report({ ...refused, taken, readable, lastSeq: info?.lastSeq })
  } catch (error) {
    report({ ...refusalOf(error), taken })
  }
}

async function fill(append: (message: string) => Promise<void>): Promise<object> {
  for (;;) {
    try {
      await append('x'.repeat(20_000))
    } catch (error) {
      return refusalOf(error)
    }
  }
}

function refusalOf(error: unknown): object {
  return error instanceof MillraceError ? { code: error.code, reason: error.facts.reason } : { code: String(error) }
}

function report(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
