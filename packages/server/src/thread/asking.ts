import { once } from 'node:events'
import { platform, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** Inside a thread: sends messages to the server and waits for the answer to each. Called once, at the beginning. */
export function asking<From, To>(): { ask(message: From): Promise<To>; end(message: From): void } {
  const port = parentPort
  if (port === null) throw new Error('this file is the entry of a thread; start it with messagesOfThread')
  // On Linux this is the priority of this thread, so that the thread that answers everyone comes first.
  if (platform() === 'linux') setPriority(10)
  return {
    ask: async (message) => {
      const answer = once(port, 'message')
      port.postMessage(message)
      return (await answer)[0]
    },
    end: (message) => {
      port.postMessage(message)
      port.close()
    },
  }
}
