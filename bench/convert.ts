import { execFile } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type DialectName, dialectNames } from '@millrace/core'
import { packedFolder } from '../scripts/pack.mjs'
import { median, type Row } from './kit/row.ts'

/** What ships, as Node loads it: the sources would be measured with the calls that Vite puts between modules. */
const packedCore = pathToFileURL(`${packedFolder}/node_modules/@millrace/core/dist/index.js`).href
const direction = fileURLToPath(new URL('./convert-direction.mjs', import.meta.url))

/**
 * `millrace convert`, text in and text out, in every direction. What no converter can avoid is to parse the data that it
 * reads and to print the data that it writes: the bar is against JSON.parse of the one and JSON.stringify of the other.
 */
export async function bench(): Promise<Row[]> {
  const rows: Row[] = []
  for (const from of dialectNames) for (const to of dialectNames) if (to !== from) rows.push(await row(from, to))
  return rows
}

interface Measured {
  /** Milliseconds of ours and of the peer, in turns. */
  readonly pairs: readonly [number, number][]
  readonly frames: number
  readonly bytes: { readonly read: number; readonly written: number }
}

async function row(from: DialectName, to: DialectName): Promise<Row> {
  const { stdout } = await promisify(execFile)(process.execPath, [direction, packedCore, from, to])
  const { pairs, frames, bytes } = JSON.parse(stdout) as Measured
  const perFrame = (milliseconds: number): number => (milliseconds * 1000) / frames
  const ratio = median(pairs.map(([ours, peer]) => ours / peer))
  return {
    what: `convert ${from} to ${to}, us per frame; ${kilobytes(bytes.read)} kB in, ${kilobytes(bytes.written)} kB out`,
    ours: perFrame(median(pairs.map(([ours]) => ours))),
    peer: 'JSON.parse of the input + JSON.stringify of the output',
    peerValue: perFrame(median(pairs.map(([, peer]) => peer))),
    limit: 'the same, 1.0x',
    ratio,
    bar: '<= 3',
    ok: ratio <= 3,
  }
}

const kilobytes = (bytes: number): number => Math.round(bytes / 1000)
