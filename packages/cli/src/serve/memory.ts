import { getHeapStatistics } from 'node:v8'
import type { MemoryUse } from '@millrace/server'

/**
 * What the process takes: its heap against the limit of Node, or with `most` (in bytes) all of its memory against that,
 * whichever is nearer to its limit.
 */
export function memoryUse(most: number | undefined): MemoryUse {
  const { used_heap_size: used, heap_size_limit: heap } = getHeapStatistics()
  const rss = most === undefined ? 0 : process.memoryUsage.rss()
  return most !== undefined && rss / most > used / heap ? { used: rss, most } : { used, most: heap }
}
