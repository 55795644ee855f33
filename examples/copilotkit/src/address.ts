/** The agent and the thread are in the address of the page, so that a reload finds the same conversation. */
const query = new URLSearchParams(location.search)

export const agentName = query.get('agent') ?? 'assistant'
export const threadId = query.get('thread') ?? crypto.randomUUID()

query.set('thread', threadId)
history.replaceState(null, '', `?${query}`)
