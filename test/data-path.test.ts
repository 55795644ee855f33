import { adk, fold, memoryLog, printFrame, sseReader, transcriptView, withSeq } from '@millrace/core'
import { wireText } from '@millrace/core/testing'
import { expect, test } from 'vitest'
import { testServer } from './kit/server.ts'
import { loadVectors } from './kit/vectors.ts'

// The whole of Millrace in one test. Start reading here: each step is one folder of packages/core/src.
test('bytes become frames, events, a log, a view, and frames again', async () => {
  const [vector] = loadVectors('adk').filter(({ name }) => name === 'documented-recovery')
  const bytes = `${wireText(vector!.wire.slice(1, -1))}data: {"half": \n\n` // the last frame is not JSON

  // in: bytes -> frame -> dialect.decode -> event
  const decoder = adk.decoder({ run: 'r1', agent: 'coordinator' })
  const frames = sseReader().feed(bytes)
  const drafts = [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end('closed')]

  // event -> log.append: the log alone gives out seq
  const log = memoryLog(() => 1_767_081_400_000)
  await log.create({ id: 's1', user: 'local', agent: 'coordinator' })
  const lease = await log.acquire('s1', 'r1', 'this test', 1000)
  const rows = await log.append('s1', drafts, lease)
  expect(rows.map(({ seq, event }) => [seq, event.kind])).toEqual([
    [1, 'run.started'],
    [2, 'agent'],
    [3, 'agent'],
    [4, 'agent'],
    [5, 'foreign'],
    [6, 'run.finished'],
  ])

  // log -> view
  expect(JSON.stringify(fold(transcriptView, rows))).toContain('**Overall Confidence:** 90%')

  // out: log.read(after) -> dialect.encode -> frame -> bytes, from any seq: here the answer and what follows it
  const encoder = adk.encoder({ session: 's1' })
  const printed = rows.map((row) => withSeq(encoder.push(row), row.seq).map(printFrame).join(''))
  expect(printed.slice(4).join('')).toBe(
    ': foreign {"reason":"not JSON","raw":"{\\"half\\": "}\nid: 5\n\n: run.finished done\nid: 6\n\n',
  )

  // the same over HTTP: a recorded stream goes in, and comes out in the dialect that is asked for
  const { app, close } = await testServer({ log, newId: () => 's2' })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const sent = { method: 'POST', headers: { 'content-type': 'text/event-stream' }, body: bytes }
  expect((await fetch(`${address}/sessions/import?dialect=adk`, sent)).status).toBe(201)
  const served = await fetch(`${address}/sessions/s2/events?dialect=adk&run=s2`)
  expect(served.headers.get('content-type')).toBe('text/event-stream')
  expect(await served.text()).toContain(printed.slice(1).join(''))
  await close(0)
})
