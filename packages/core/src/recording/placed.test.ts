import { expect, test } from 'vitest'
import { placedRecording } from './recording.ts'

const said = (text: string): string => JSON.stringify({ id: text, author: 'a', content: { parts: [{ text }] } })

async function places(text: string): Promise<string[]> {
  const found: string[] = []
  for await (const { row, number, unit, dialect } of placedRecording(text, { from: 'adk', run: 'r', now: () => 1 }))
    found.push(`${dialect} ${row.event.kind} ${unit} ${number}`)
  return found
}

test.each([
  ['frame', `data: ${said('x')}\n\n: a heartbeat\n\ndata: nonsense\n\ndata: ${said('y')}\n\n`, [1, 1, 3, 4]],
  ['line', `${said('x')}\n\nnonsense\n${said('y')}\n`, [1, 1, 3, 4]],
  ['event', `[${said('x')}, 7, ${said('y')}]`, [1, 1, 2, 3]],
])('a row has the number of its %s, also when it waited for a time', async (unit, text, numbers) => {
  const kinds = ['run.started', 'agent', 'foreign', 'agent']
  expect(await places(text)).toEqual([
    ...kinds.map((kind, i) => `adk ${kind} ${unit} ${numbers[i]}`),
    `adk run.finished ${unit} undefined`,
  ])
})
