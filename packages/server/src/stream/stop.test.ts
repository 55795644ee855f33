import { expect, test } from 'vitest'
import { Stop } from './stop.ts'

test('a stop calls its listeners once, without those that left', () => {
  const stop = new Stop()
  const heard: string[] = []
  const gone = (): void => void heard.push('gone')
  stop.addEventListener('abort', () => heard.push('here'))
  stop.addEventListener('abort', gone)
  stop.removeEventListener('abort', gone)
  expect(stop.aborted).toBe(false)
  stop.abort()
  stop.abort()
  expect([stop.aborted, heard]).toEqual([true, ['here']])
})
