import { memoryLog } from '@millrace/core'
import { expect, test } from 'vitest'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

test('a stream that fails is broken off, not ended like a complete one, and the log has the error', async () => {
  const lines: string[] = []
  const log = memoryLog(Date.now)
  await log.create({ id: 's', user: 'user', agent: 'mute' })
  const follow = (): never => {
    throw new Error('the disk is gone')
  }
  const server = await testServer({
    log: { ...log, follow },
    with: [scriptedAgent('mute', () => [])],
    logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } },
  })
  const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  const answer = fetch(`${address}/sessions/s/events`).then((response) => response.text())
  await expect(answer).rejects.toThrow()
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'a stream failed', session: 's', err: { message: 'the disk is gone' } },
  ])
  await server.close(0)
})
