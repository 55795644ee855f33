import { retryingFetch } from './retrying-fetch.ts'
import type { ModelSettings } from './settings.ts'
import { timedFetch } from './timed-fetch.ts'

/** The longest time that a timer of Node can wait, in ms: for the limits of SDKs that cannot be switched off. */
export const longest = 2 ** 31 - 1

/** `fetch` for calls of models, with Millrace's retries and time limit in place of those that differ between SDKs. */
export function modelFetch({
  fetch = globalThis.fetch,
  attempts = 4,
  timeout,
}: ModelSettings): typeof globalThis.fetch {
  return retryingFetch(timedFetch(fetch, timeout), { attempts })
}
