import { type ChatStore, createChatStore } from './chat-store.ts'

/** The one store of the page, which hooks use when they are given no other. On a server it renders nothing. */
export const useChatStore: ChatStore = /* @__PURE__ */ createChatStore()
