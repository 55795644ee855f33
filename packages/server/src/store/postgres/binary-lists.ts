/**
 * Lists of values in the binary format of PostgreSQL: one dimension, from index 1. As text, every quote and backslash of
 * a JSON body would be escaped here and read again there.
 */
export function bigints(values: readonly number[]): Buffer {
  return numbers(values, { type: 20, width: 8, write: (into, value, at) => into.writeBigInt64BE(BigInt(value), at) })
}

export function doubles(values: readonly number[]): Buffer {
  return numbers(values, { type: 701, width: 8, write: (into, value, at) => into.writeDoubleBE(value, at) })
}

export function smallints(values: readonly number[]): Buffer {
  return numbers(values, { type: 21, width: 2, write: (into, value, at) => into.writeInt16BE(value, at) })
}

export function texts(values: readonly (string | null)[]): Buffer {
  const sizes = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)))
  const list = begun(
    25,
    values.length,
    sizes.reduce((sum, size) => sum + Math.max(0, size), 0),
    sizes.includes(-1),
  )
  let at = head
  for (const [i, value] of values.entries()) {
    const size = sizes[i] ?? -1
    at = list.writeInt32BE(size, at)
    if (value !== null) at += list.write(value, at, size)
  }
  return list
}

interface NumberFormat {
  /** The number of the type in PostgreSQL. */
  readonly type: number
  readonly width: number
  write(into: Buffer, value: number, at: number): number
}

function numbers(values: readonly number[], { type, width, write }: NumberFormat): Buffer {
  const list = begun(type, values.length, values.length * width, false)
  let at = head
  for (const value of values) at = write(list, value, list.writeInt32BE(width, at))
  return list
}

const head = 20

/** The head of a list: dimensions, whether it has nulls, the type of its values, their number, the first index. */
function begun(type: number, count: number, bytes: number, hasNulls: boolean): Buffer {
  const list = Buffer.allocUnsafe(head + 4 * count + bytes)
  for (const [i, value] of [1, hasNulls ? 1 : 0, type, count, 1].entries()) list.writeInt32BE(value, 4 * i)
  return list
}
