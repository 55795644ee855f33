import { expect } from 'vitest'
import type { FrontEndBench } from './front-end-bench.ts'

/** One thing that people do with a chat library. It throws where the page does not end up as it should. */
export interface FrontEndScenario {
  readonly name: string
  /** Returns a note where this library does it in another way, or not at all. */
  readonly run: (bench: FrontEndBench) => Promise<FrontEndNote | undefined>
}

/** What is different for some libraries, and what to do. Printed below the table. */
export const frontEndNotes = {
  noState:
    'TanStack AI has no shared state: it sends `state: {}` in every request, which changes nothing here. Read the state from `STATE_SNAPSHOT` with `onChunk`, and let the agent change it with a tool.',
  spliced:
    'assistant-ui shows only a part of what agents say at the same time, because it takes a message to be over when another one goes on. After a reload everything is there.',
} as const
export type FrontEndNote = keyof typeof frontEndNotes

const found = (word: string): string => `look_up {"word":"${word}","meaning":"the meaning of ${word}"}`

export const frontEndScenarios: readonly FrontEndScenario[] = [
  {
    name: 'a chat of two turns',
    async run(bench) {
      const page = await bench.open()
      await page.say('Hello')
      await page.shows('You said Hello.')
      await page.say('Again')
      await page.shows('You said Again.')
      await page.shows('You said Hello.')
      await page.runsAre(['done', 'done'])
      return page.close()
    },
  },
  {
    name: 'tools of the server, and the thread is there after a reload',
    async run(bench) {
      const page = await bench.open()
      await page.say('look up: mill')
      await page.shows(found('mill'))
      expect(await page.chat.locator('code').first().textContent()).toContain('look_up')
      await page.reload()
      await page.shows(found('mill'))
      await page.say('look up: race')
      await page.shows(found('race'))
      await page.shows(found('mill'))
      await page.runsAre(['done', 'done'])
      return page.close()
    },
  },
  {
    name: 'state from the agent',
    async run(bench) {
      const page = await bench.open()
      await page.say('note: milk')
      await page.shows('Noted.')
      await page.state({ notes: ['milk'] })
      await page.reload()
      await page.state({ notes: ['milk'] })
      return page.close()
    },
  },
  {
    name: 'state from the page',
    async run(bench) {
      if (!bench.frontEnd.sharesState) return 'noState'
      const page = await bench.open()
      await page.say('note: milk')
      await page.state({ notes: ['milk'] })
      // The end of a run brings the state of the agent once more.
      await page.idle()
      await page.press('Clear notes')
      await page.state({ notes: [] })
      await page.say('state')
      await page.shows('{"notes":[]}')
      return page.close()
    },
  },
  {
    name: 'a tool of the page',
    async run(bench) {
      const page = await bench.open()
      await page.say('size: window')
      await page.shows('Measured: pick_size {"result":"large"}')
      await page.runsAre(['interrupted', 'done'])
      return page.close()
    },
  },
  {
    name: 'a tool of the page that a person answers',
    async run(bench) {
      const page = await bench.open()
      await page.say('colour: sky')
      await page.press('blue')
      await page.shows('Chosen: pick_colour {"result":"blue"}')
      return page.close()
    },
  },
  {
    name: 'the same, and the page is reloaded before the answer',
    async run(bench) {
      const page = await bench.open()
      await page.say('colour: sea')
      await page.page.getByRole('button', { name: 'green' }).waitFor()
      await page.reload()
      await page.press('green')
      await page.shows('Chosen: pick_colour {"result":"green"}')
      return page.close()
    },
  },
  {
    name: 'a confirmation; yes',
    async run(bench) {
      const page = await bench.open()
      await page.say('note: milk')
      await page.state({ notes: ['milk'] })
      await page.say('erase')
      await page.shows('Erase the notes?')
      await page.press('Approve')
      await page.shows('erase_notes {"erased":true}')
      await page.state({ notes: [] })
      return page.close()
    },
  },
  {
    name: 'a confirmation; no, after a reload',
    async run(bench) {
      const page = await bench.open()
      await page.say('note: milk')
      await page.state({ notes: ['milk'] })
      await page.say('erase')
      await page.shows('Erase the notes?')
      await page.reload()
      await page.shows('Erase the notes?')
      await page.press('Reject')
      await page.hides('Erase the notes?')
      await page.state({ notes: ['milk'] })
      await page.runsAre(['done', 'interrupted', 'done'])
      return page.close()
    },
  },
  {
    name: 'a graph asks, and goes on after a reload',
    async run(bench) {
      const page = await bench.open('graph')
      await page.say('publish')
      await page.shows('Publish it?')
      await page.reload()
      await page.press('Approve')
      await page.shows('Answered {"approved":true}.')
      return page.close()
    },
  },
  {
    name: 'stop',
    async run(bench) {
      const page = await bench.open()
      await page.say(`wait: ${bench.name()}`)
      await page.shows('Waiting.')
      await page.stop()
      await page.runsAre(['cancelled'])
      await page.say('Hello')
      await page.shows('You said Hello.')
      return page.close()
    },
  },
  {
    name: 'the page is reloaded during a run',
    async run(bench) {
      const page = await bench.open('desk', 'continue')
      const door = bench.name()
      await page.say(`wait: ${door}`)
      await page.shows('Waiting.')
      await page.reload()
      await page.shows('Waiting.')
      await bench.openDoor(door)
      await page.shows('Going on.')
      await page.runsAre(['done'])
      return page.close()
    },
  },
  {
    name: 'regenerate',
    async run(bench) {
      const page = await bench.open()
      await page.say(`count: ${bench.name()}`)
      await page.shows('Number 1.')
      await page.regenerate()
      await page.shows('Number 2.')
      await page.say('Hello')
      await page.shows('You said Hello.')
      await page.runsAre(['done', 'done', 'done'])
      return page.close()
    },
  },
  {
    name: 'agents side by side',
    async run(bench) {
      const page = await bench.open('team')
      await page.say('search')
      const { showsParallelMessages } = bench.frontEnd
      await page.runsAre(['done'])
      if (!showsParallelMessages) await page.reload()
      await page.shows('Found on the left.')
      await page.shows('Found on the right.')
      return (await page.close()) ?? (showsParallelMessages ? undefined : 'spliced')
    },
  },
  {
    name: 'one agent hands over to another',
    async run(bench) {
      const page = await bench.open('router')
      await page.say('help')
      await page.shows('The expert heard help.')
      return page.close()
    },
  },
]
