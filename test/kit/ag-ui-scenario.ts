import type { ClientBench } from './ag-ui-clients.ts'

/** One thing that people do with a client. It throws where the client does not end up as it should. */
export interface AgUiScenario {
  readonly name: string
  /** Returns a note where this client needs another way than the newest one. */
  readonly run: (bench: ClientBench) => Promise<AgUiNote | undefined>
}

/** What is different for some clients, and what to do. Printed below the table. */
export const agUiNotes = {
  command:
    'This client has no `resume`. The question comes as the event `CUSTOM on_interrupt`; answer it with `runAgent({ forwardedProps: { command: { resume: answer } } })`.',
  stepNames: 'This client has no subagents: agents inside a run are steps (`STEP_STARTED`, `STEP_FINISHED`).',
  binary: 'A file is sent and shown as a `binary` part, which is the only form that this client has.',
} as const
export type AgUiNote = keyof typeof agUiNotes
