import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { envFiles } from './env-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-env-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('variables of files are put into the process, and leave it when they leave the file; its own are never touched', () => {
  const own = join(folder, 'agents/a')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(folder, '.env'), 'A=here\nB="b c" # why\n')
  writeFileSync(join(own, '.env'), 'A=own\nC=own\nD=own\n')
  const variables: NodeJS.ProcessEnv = { D: 'process' }
  const env = envFiles(variables, folder)
  expect(env.base).toEqual({ A: 'here', B: 'b c', D: 'process' })
  expect(env.of(own)).toEqual({ A: 'own', B: 'b c', C: 'own', D: 'process' })
  expect(variables).toEqual({ A: 'own', B: 'b c', C: 'own', D: 'process' })
  writeFileSync(join(own, '.env'), 'A=edited\n')
  expect(env.of(own)).toEqual({ A: 'edited', B: 'b c', D: 'process' })
  expect(variables).toEqual({ A: 'edited', B: 'b c', D: 'process' })
  writeFileSync(join(folder, '.env'), 'A=here\n')
  expect(env.of(own)).toEqual({ A: 'edited', D: 'process' })
  expect(variables).toEqual({ A: 'edited', D: 'process' })
})

test('the tokens of users are for the settings only: no agent gets them', () => {
  const place = mkdtempSync(join(tmpdir(), 'millrace-env-'))
  writeFileSync(join(place, '.env'), 'MILLRACE_TOKENS=ann=token-of-ann\nA=here\n')
  const variables: NodeJS.ProcessEnv = { MILLRACE_PROXY_SECRET: 'secret' }
  const env = envFiles(variables, place)
  expect(env.base).toEqual({ MILLRACE_TOKENS: 'ann=token-of-ann', MILLRACE_PROXY_SECRET: 'secret', A: 'here' })
  expect(env.read(join(place, 'agents/a'))).toEqual({ A: 'here' })
  expect(env.of(join(place, 'agents/a'))).toEqual({ A: 'here' })
  expect(variables).toEqual({ A: 'here' })
  rmSync(place, { recursive: true })
})
