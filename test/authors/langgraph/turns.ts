import type { Turn } from '../kit/session.ts'

/** Each agent of this folder, and what a person says to it. */
export const turns: Readonly<Record<string, readonly Turn[]>> = {
  approval: [{ say: 'Write to Ann' }, { answer: { decisions: [{ type: 'approve' }] } }],
  breakpoints: [{ say: 'Go' }, { answer: true }, { answer: true }],
  cached: [{ say: 'Rome' }, { say: 'Rome' }],
  commands: [{ say: 'I want a refund' }],
  deferred: [{ say: 'Go' }],
  deltas: [{ say: 'one' }, { say: 'two' }, { say: 'forget' }, { answer: 'yes' }, { say: 'four' }],
  failures: [{ say: 'Try' }],
  functional: [{ say: 'cats' }, { answer: 'good' }, { say: 'dogs' }, { answer: 'better' }],
  handoff: [{ say: 'Book me a flight' }],
  'hitl-team': [
    { say: 'Mail Ann' },
    { answer: { decisions: [{ type: 'approve' }, { type: 'reject', message: 'no bob' }] } },
    { say: 'Mail again' },
    {
      answer: {
        decisions: [{ type: 'edit', editedAction: { name: 'send', args: { to: 'cat' } } }, { type: 'approve' }],
      },
    },
  ],
  'inner-stream': [{ say: 'rain' }],
  joins: [{ say: 'Go' }],
  'map-reduce': [{ say: 'Tell jokes' }],
  memory: [{ say: 'red' }, { say: 'green' }, { say: 'blue' }],
  middleware: [{ say: 'Rome' }],
  'nested-question': [{ say: 'Write it' }, { answer: 'fine' }],
  'parallel-questions': [{ say: 'May we?' }, { answer: 'it may' }],
  progress: [{ say: 'Load it' }],
  reducers: [{ say: 'Take notes' }],
  retries: [{ say: 'Fetch it' }],
  'stateful-inner': [{ say: 'Hello' }, { answer: 'Ann' }, { say: 'Hello' }, { answer: 'Bob' }],
  subgraph: [{ say: 'owls' }],
  'time-travel': [{ say: 'bees' }, { say: 'cats' }],
  'tool-loop': [{ say: 'What does a pear cost?' }],
  'tool-question': [{ say: 'Two rooms' }, { answer: 'yes' }],
  trimming: [{ say: 'one' }, { say: 'two' }, { say: 'three' }, { say: 'forget' }],
  'two-questions': [{ say: 'Hello' }, { answer: 'Ann' }, { answer: 'old' }, { answer: 41 }],
}
