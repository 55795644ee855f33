import { evidenceBefore, type LiveLog, type Proof, type SupportIndex, supportSteps } from '@millrace/core'
import { useEffect, useState } from 'react'

interface Found {
  readonly support: SupportIndex
  /** Whether older evidence was left out. */
  readonly isCut: boolean
}

/** Milliseconds of work between two chances for the page to draw. */
const slice = 8
/** The answers of each log whose support is kept. */
const most = 4
const known = new WeakMap<LiveLog, Map<string, Found>>()

/** Where the log holds the figures of an answer. A long session takes a moment to read: until then it is undefined. */
export function useSupport(log: LiveLog, { run, seq, message }: Proof): Found | undefined {
  const key = JSON.stringify([run, seq, message])
  const [found, setFound] = useState(() => known.get(log)?.get(key))
  useEffect(() => {
    if (known.get(log)?.has(key) === true) return setFound(known.get(log)?.get(key))
    setFound(undefined)
    let timer: ReturnType<typeof setTimeout>
    const read = reading(log, { run, seq, ...(message === undefined ? {} : { message }) })
    const go = (): void => {
      const until = performance.now() + slice
      let step = read.next()
      while (step.done !== true && performance.now() < until) step = read.next()
      if (step.done !== true) timer = setTimeout(go)
      else {
        keep(log, key, step.value)
        setFound(step.value)
      }
    }
    timer = setTimeout(go)
    return () => clearTimeout(timer)
  }, [log, key, run, seq, message])
  return found
}

function* reading(log: LiveLog, answer: Parameters<typeof evidenceBefore>[1]): Generator<undefined, Found, void> {
  const { evidence, isCut } = evidenceBefore(log.rows, answer)
  yield undefined
  return { support: yield* supportSteps(evidence), isCut }
}

function keep(log: LiveLog, key: string, found: Found): void {
  const all = known.get(log) ?? new Map<string, Found>()
  known.set(log, all)
  all.set(key, found)
  const [oldest] = all.keys()
  if (all.size > most && oldest !== undefined) all.delete(oldest)
}
