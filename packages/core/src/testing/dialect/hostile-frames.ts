import type { Frame } from '../../frame/frame.ts'
import { type Dice, dice, pick } from '../dice.ts'

/** Text that no dialect takes for an event: it must come out as `foreign`. */
export const isGarbage = ({ event, data }: Frame): boolean => event === undefined && data.startsWith('!')

/**
 * Streams that a hostile or newer peer might send: garbage, frames of unknown names, and the dialect's own frames out
 * of order and with a value of the wrong type inside.
 */
export function hostileStreams(own: readonly Frame[], count: number): readonly (readonly Frame[])[] {
  const random = dice(count)
  const names = [...new Set(own.flatMap(({ event }) => event ?? [])), 'nonsense', 'message']
  return Array.from({ length: count }, () => Array.from({ length: random(13) }, () => hostileFrame(random, own, names)))
}

function hostileFrame(random: Dice, own: readonly Frame[], names: readonly string[]): Frame {
  const known = pick(random, own)
  const frames: readonly Frame[] = [
    known,
    { ...known, data: spoiled(random, known.data) },
    { data: `!${randomText(random)}` },
    { data: JSON.stringify(randomJson(random, 3)) },
    { event: pick(random, names), data: JSON.stringify(randomJson(random, 2)) },
  ]
  return pick(random, frames)
}

/** The same JSON with one field of the outermost object replaced; other text with a random end. */
function spoiled(random: Dice, data: string): string {
  const value = parsed(data)
  if (typeof value !== 'object' || value === null) return data.slice(0, random(data.length + 1)) + randomText(random)
  const keys = Object.keys(value)
  return JSON.stringify(keys.length === 0 ? [] : { ...value, [pick(random, keys)]: randomJson(random, 2) })
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

const odd = ['', 'x', '{', '"', '\\', '\n', '\u0000', '\ud83d', '\u{1f525}', '\u2028', '__proto__', 'type', 'run']
const scalars: readonly unknown[] = [null, true, 0, -1, 1e300, 0.5, '', ...odd]

function randomText(random: Dice): string {
  return Array.from({ length: random(6) }, () => pick(random, odd)).join('')
}

function randomJson(random: Dice, depth: number): unknown {
  if (depth === 0 || random(2) === 0) return pick(random, scalars)
  const values = Array.from({ length: random(4) }, () => randomJson(random, depth - 1))
  return random(2) === 0 ? values : Object.fromEntries(values.map((value) => [randomText(random), value]))
}
