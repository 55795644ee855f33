#!/usr/bin/env node
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { deleteUserCommand } from './delete-user.ts'
import { moveStoreCommand } from './move-store-command.ts'
import { serve } from './serve.ts'
import { version } from './version.ts'

const help = `millrace ${version}

  millrace [serve]    run agents, record their runs and serve the log (see millrace serve --help)
  millrace delete-user USER delete everything of a user (see millrace delete-user --help)
  millrace move       move a whole store from SQLite into PostgreSQL, or back (see millrace move --help)
  millrace --version  print the version`

/** Runs a command and resolves with its exit code. `agents` is the folder to serve when no setting names one. */
export async function main(args: readonly string[], agents?: string): Promise<number> {
  const [first, ...rest] = args
  if (first === '--version' || first === '-v') {
    console.log(version)
    return 0
  }
  if (first === 'help') {
    console.log(help)
    return 0
  }
  if (first === 'serve') return serve(rest, agents)
  if (first === 'delete-user') return deleteUserCommand(rest, process.env)
  if (first === 'move') return moveStoreCommand(rest)
  if (first === undefined || first.startsWith('-')) return serve(args, agents)
  console.error(`millrace: unknown command ${first}\n\n${help}`)
  return 2
}

const started = process.argv[1] === undefined ? '' : realpathSync(process.argv[1])
if (started === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2))
