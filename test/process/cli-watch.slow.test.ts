import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { processStat } from '../../scripts/process-stat.mjs'
import { endOf, startCommand } from '../kit/command.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-watch-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('serve --watch starts again when its configuration changes, also after a fault in it, and ends with a signal', async () => {
  // The folder of the agents is named, and the configuration is beside it and not here.
  mkdirSync(join(root, 'project/agents'), { recursive: true })
  const named = ['serve', 'project/agents', '--watch', '--port', '0', '--data-dir', join(root, 'data')]
  const child = startCommand(named, { cwd: root, group: true })
  const ended = endOf(child)
  let said = ''
  const news = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: string) => {
      said += text
      for (const look of news) look()
    })
  const saysNext = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(said)
        if (found === null) return
        said = said.slice(found.index + found[0].length)
        news.delete(look)
        resolve(found[1] ?? '')
      }
      news.add(look)
      void ended.then(({ code }) => reject(new Error(`it ended with ${code}: ${said}`)))
      look()
    })
  const listening = /listening on (http:\S+)/
  const edit = (text: string): void => writeFileSync(join(root, 'project/millrace.config.json'), text)

  const first = await saysNext(listening)
  expect((await fetch(`${first}/health`)).status).toBe(200)
  edit('{ "agents": 7 }')
  await saysNext(/millrace\.config\.json changed; the server starts again/)
  await saysNext(/the server ended; it starts again when/)
  await expect(fetch(`${first}/health`)).rejects.toThrow()
  edit('{ "agents": {} }')
  const second = await saysNext(listening)
  expect((await fetch(`${second}/health`)).status).toBe(200)
  // Ctrl-C at a terminal. It must reach the server once, so that it ends with what it has begun: not by the group, too.
  expect(groupsBelow(child.pid ?? 0)).not.toContain(child.pid)
  process.kill(-(child.pid ?? 0), 'SIGINT')
  expect((await ended).code).toBe(0)
  await expect(fetch(`${second}/health`)).rejects.toThrow()
})

/** The process groups of the children of a process, as Linux tells them. */
function groupsBelow(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  expect(children).toHaveLength(1)
  return children.flatMap((each) => processStat(each)?.group ?? [])
}
