import { expect, test } from 'vitest'
import { openedFile, openFile } from './files.ts'

const header = '{"format":"millrace.session","version":1,"session":{"agent":"scout","title":"Fires"}}'
const start = '{"seq":1,"at":1,"run":"r","event":{"kind":"run.started","agent":"scout","input":{"messages":[]}}}'
const open = (name: string, text: string) => openFile(new File([text], name))

test('an export is opened as the server imports it: whole', async () => {
  const id = await open('whole.jsonl', `${header}\n${start}\n`)
  expect(openedFile(id)?.info).toMatchObject({ agent: 'scout', status: 'failed', runs: 1 })
})

test('a damaged export is refused as the server refuses it: with the line', async () => {
  await expect(open('damaged.jsonl', `${header}\n${start}\n{"seq":2\n`)).rejects.toThrow('line 3: ')
  expect(openedFile('file:damaged.jsonl')).toBeUndefined()
})

test('an AG-UI recording names no agent, so it has none', async () => {
  const id = await open('run.sse', 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n')
  expect(openedFile(id)?.info.agent).toBe('')
})
