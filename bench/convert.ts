import { pathToFileURL } from 'node:url'
import type * as core from '@millrace/core'
import { packedFolder } from '../scripts/pack.mjs'
import { type Row, sideBySideAsync } from './kit/row.ts'

/** A stream of some seconds: long enough that neither side is measured while its code is compiled. */
const turns = 200

/** What ships, as Node loads it: the sources would be measured with the calls that Vite puts between modules. */
const packedCore = pathToFileURL(`${packedFolder}/node_modules/@millrace/core/dist/index.js`).href
const { convertChunks, printFrame } = (await import(packedCore)) as typeof core
type DialectName = core.DialectName

/** `millrace convert` without its process: text in, text out, against JSON.parse and JSON.stringify of the same data. */
export async function bench(): Promise<Row[]> {
  const source = adkTurns()
  const wires: Partial<Record<DialectName, string>> = { adk: source }
  for (const to of ['ag-ui', 'plan', 'millrace'] as const) wires[to] = await converted(source, 'adk', to)
  const pairs: readonly (readonly [DialectName, DialectName])[] = [
    ['adk', 'ag-ui'],
    ['adk', 'plan'],
    ['ag-ui', 'adk'],
    ['ag-ui', 'plan'],
    ['plan', 'ag-ui'],
    ['plan', 'adk'],
    ['millrace', 'ag-ui'],
    ['millrace', 'adk'],
  ]
  const rows: Row[] = []
  for (const [from, to] of pairs) rows.push(await row(wires[from] ?? '', from, to))
  return rows
}

async function row(text: string, from: DialectName, to: DialectName): Promise<Row> {
  const data = dataOf(text)
  let size = 0
  const { ours, peer, ratio } = await sideBySideAsync(
    async () => {
      size = (await converted(text, from, to)).length
    },
    async () => {
      let length = 0
      for (const each of data) length += JSON.stringify(JSON.parse(each)).length
      if (length === 0) throw new Error('nothing was printed')
    },
  )
  if (size < data.length) throw new Error('too little was converted')
  const perFrame = (milliseconds: number): number => (milliseconds * 1000) / data.length
  return {
    what: `convert ${from} to ${to}, us per frame of ${Math.round(text.length / data.length)} B`,
    ours: perFrame(ours),
    peer: 'JSON.parse + JSON.stringify',
    peerValue: perFrame(peer),
    limit: 'the same, 1.0x',
    ratio,
    bar: '<= 3',
    ok: ratio <= 3,
  }
}

function dataOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  return lines.map((line) => line.slice('data: '.length))
}

async function converted(text: string, from: DialectName, to: DialectName): Promise<string> {
  let out = ''
  for await (const frames of convertChunks(text, { from, to, run: 'r', now: () => 1 }))
    out += frames.map(printFrame).join('')
  return out
}

/** A run as `/run_sse` of ADK streams it: in each turn a call, its response, 40 partials and the aggregate. */
function adkTurns(): string {
  let id = 0
  const event = (part: object, rest: object = {}): string =>
    `data: ${JSON.stringify({
      content: { role: 'model', parts: [part] },
      invocationId: 'e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712',
      author: 'coordinator',
      actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
      longRunningToolIds: [],
      id: `e${id++}`,
      timestamp: 1_767_081_391_059 + id,
      ...rest,
    })}\n\n`
  const words = Array.from({ length: 40 }, (_, i) => (i === 20 ? 'Überblick ' : `word${i} `))
  return Array.from({ length: turns }, (_, turn) =>
    [
      event({ functionCall: { id: `c${turn}`, name: 'burn_analyst', args: { request: 'cedar-creek-2022' } } }),
      event({ functionResponse: { id: `c${turn}`, name: 'burn_analyst', response: { result: 'Confidence: 92%' } } }),
      ...words.map((text) => event({ text }, { partial: true })),
      event({ text: words.join('') }, { finishReason: 'STOP' }),
    ].join(''),
  ).join('')
}
