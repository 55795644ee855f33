// One suite of a folder, run and counted as `npm test` does it: `one-suite.mjs FOLDER TITLE`. SIGUSR2 is its limit.
import { once } from 'node:events'
import { testRun } from '../../scripts/test-run.mjs'

const [folder = '', title = ''] = process.argv.slice(2)
const { suite, run } = testRun()
const limit = once(process, 'SIGUSR2').then(() => 'the time is over')
await run(() => suite(title, ['--root', folder, '--config', `${folder}/vitest.config.mjs`]), limit)
