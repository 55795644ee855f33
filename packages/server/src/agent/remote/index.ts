import type { EntryEngine } from '../agent-engine.ts'
import { remoteAbout, remoteAgent } from './remote-agent.ts'
import { remoteEntry } from './remote-entry.ts'

/** Runs agents of other servers, over AG-UI or ADK. */
export const remoteEngine: EntryEngine & { readonly entry: typeof remoteEntry } = {
  about: remoteAbout,
  entry: remoteEntry,
  open(name, entry, host) {
    const read = remoteEntry.safeParse(entry)
    return read.success ? remoteAgent(name, read.data, host) : undefined
  },
}
