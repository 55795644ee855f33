import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { memoryLog } from '@millrace/core'
import { createMillrace } from '@millrace/server'
import { pageFolder } from '../agents-folder.ts'
import { CommandError } from '../command-error.ts'
import { sayLine } from '../output.ts'
import { version } from '../version.ts'
import type { CaseResult } from './run-cases.ts'

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'open',
  linux: 'xdg-open',
  win32: 'explorer',
}

/** Serves the runs that failed, each as a session, until the signal. */
export async function showRuns(failed: readonly CaseResult[], signal: AbortSignal): Promise<void> {
  const page = pageFolder()
  if (page === undefined) throw new CommandError('this package has no page; build it with npm run build')
  const log = memoryLog(Date.now)
  for (const { found, verdicts } of failed) {
    for (const { facts } of verdicts.filter(({ findings }) => findings.length > 0))
      await log.restore({ id: randomUUID(), user: 'local', agent: found.one.agent, title: found.name }, facts.rows)
  }
  const options = { log, agents: { agents: new Map() }, now: Date.now, newId: randomUUID, owner: 'test', version, page }
  const millrace = await createMillrace(options)
  const address = await millrace.app.listen({ host: '127.0.0.1', port: 0 })
  const [first] = (await log.list({ limit: 1 })).sessions
  const url = first === undefined ? address : `${address}/s/${encodeURIComponent(first.id)}`
  sayLine(`The runs that failed are on ${url} until Ctrl-C.`)
  const opener = openers[process.platform]
  if (opener !== undefined && process.stdout.isTTY)
    spawn(opener, [url], { stdio: 'ignore', detached: true })
      .on('error', () => {})
      .unref()
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  await millrace.close(0)
  await log.close()
}
