import type { Turn } from '../kit/session.ts'

/** What a person does with the agent of one folder. */
export interface Conversations {
  /**
   * Each list is a session of its own, one after the other. `key` keeps those of one user apart: memory is shared.
   * `asides` are messages beside an open question: ADK takes them, but not every client can send them.
   */
  turns(key: string, asides: boolean): readonly (readonly Turn[])[]
  /** Its agents work at the same time, so that only the order of each one is fixed. */
  readonly parallel?: boolean
  /** Begins of lines that are not compared: what a bare run hides inside a tool, and what a person answers. */
  readonly hidden?: readonly string[]
}

const say = (text: string): Turn => ({ say: text })

export const conversations: Readonly<Record<string, Conversations>> = {
  'agent-tool': { turns: () => [[say('How much water is there?')]], hidden: ['hydrologist', 'measure'] },
  artifacts: {
    turns: (key) => [
      [say(`save notes.${key} one two`), say(`load notes.${key}`)],
      [say(`save user:profile.${key} three`)],
      [say(`load user:profile.${key}`)],
    ],
  },
  callbacks: { turns: () => [[say('weigh dry wet'), say('tell me a secret')]] },
  confirmation: {
    turns: () => [
      [say('drain north'), { answer: { confirmed: true } }],
      [say('drain south'), { answer: { confirmed: false } }],
    ],
    hidden: ['adk_request_confirmation answers'],
  },
  escalate: { turns: () => [[say('Count the sacks.')]] },
  'live-errors': { turns: () => [[say('open rusty oiled'), say('overload'), say('open oiled')]] },
  'long-running': {
    turns: (_key, asides) => [
      [say('expense 20'), ...(asides ? [say('Is it done?')] : []), { answer: { status: 'approved' } }],
    ],
    hidden: ['ask_manager answers'],
  },
  loop: { turns: () => [[say('Write about water.')]] },
  mcp: { turns: () => [[say('add 1 2 3')]] },
  memory: {
    turns: (key) => [[say(`My code word is marmalade${key}.`)], [say(`recall marmalade${key}`)]],
  },
  parallel: { turns: () => [[say('Study the mill.')]], parallel: true },
  plugins: { turns: () => [[say('lift dry torn locked')]] },
  sequential: { turns: () => [[say('Write about mills.')]] },
  state: { turns: () => [[say('remember Ann')], [say('Who am I?')]] },
  transfer: { turns: () => [[say('I want my money back.'), say('My wheel is broken.')]] },
  workflow: { turns: () => [[say('How much flows?')]], parallel: true },
}
