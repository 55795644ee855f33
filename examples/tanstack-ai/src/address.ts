/** The agent and the thread are in the address of the page, so that a reload finds the same conversation. */
const query = new URLSearchParams(location.search)

/** Stop closes the connection. `cancel` makes that a cancelled run; `continue` lets the run go on when a page is left. */
export const disconnect = query.get('disconnect') ?? 'cancel'
export const agentName = query.get('agent') ?? 'assistant'
/** Whether the address names a thread, which the server may have. */
export const isReopened = query.has('thread')
export const threadId = query.get('thread') ?? crypto.randomUUID()

query.set('thread', threadId)
history.replaceState(null, '', `?${query}`)
