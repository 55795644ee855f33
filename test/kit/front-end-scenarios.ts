import type { Browser, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { FrontEnd } from './front-end-drivers.ts'

/** A page at work on one server. */
export class FrontEndBench {
  readonly frontEnd: FrontEnd
  readonly #browser: Browser
  readonly #page: string
  readonly #millrace: string
  #threads = 0

  constructor(frontEnd: FrontEnd, browser: Browser, page: string, millrace: string) {
    this.frontEnd = frontEnd
    this.#browser = browser
    this.#page = page
    this.#millrace = millrace
  }

  /** A name that no other scenario uses. */
  name(): string {
    this.#threads += 1
    return `${this.frontEnd.name}-${this.#threads}`
  }

  async open(agent = 'desk'): Promise<OpenPage> {
    const page = await (await this.#browser.newContext({ viewport: { width: 1200, height: 900 } })).newPage()
    page.setDefaultTimeout(30_000)
    // A test asks no server but its own.
    await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => route.abort())
    const noise: string[] = []
    page.on('pageerror', ({ message }) => noise.push(message))
    await page.goto(`${this.#page}?agent=${agent}`)
    return new OpenPage(this, page, noise)
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`${this.#millrace}${path}`, init)
  }

  /** Opens a door at which a run waits. */
  async openDoor(name: string): Promise<void> {
    const body = { threadId: `door-${name}`, runId: name, messages: [{ id: name, role: 'user', content: `open: ${name}` }] }
    const headers = { 'content-type': 'application/json' }
    await (await this.fetch('/ag-ui/desk', { method: 'POST', headers, body: JSON.stringify(body) })).text()
  }
}

export class OpenPage {
  readonly page: Page
  readonly noise: readonly string[]
  readonly #bench: FrontEndBench

  constructor(bench: FrontEndBench, page: Page, noise: readonly string[]) {
    this.#bench = bench
    this.page = page
    this.noise = noise
  }

  get chat(): Locator {
    return this.#bench.frontEnd.chat(this.page)
  }
  say(text: string): Promise<void> {
    return this.#bench.frontEnd.say(this.page, text)
  }
  /** Waits for a text, and for one such text only. */
  async shows(text: string): Promise<void> {
    const found = this.chat.getByText(text, { exact: true })
    await found.first().waitFor()
    expect(await found.count(), text).toBe(1)
  }
  async hides(text: string): Promise<void> {
    await this.chat.getByText(text, { exact: true }).first().waitFor({ state: 'detached' })
  }
  press(name: string): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).last().click()
  }
  /** The state that the page shows beside the chat. */
  async state(expected: unknown): Promise<void> {
    const shown = this.page.locator('aside pre')
    await expect.poll(async () => JSON.parse((await shown.textContent()) || '{}'), { timeout: 30_000 }).toMatchObject(expected as object)
  }
  async reload(): Promise<void> {
    await this.page.reload()
  }
  /** How the runs of the thread ended, and what is active. */
  async runs(): Promise<readonly string[]> {
    const thread = new URL(this.page.url()).searchParams.get('thread')
    const lines = (await (await this.#bench.fetch(`/sessions/${thread}/log`)).text()).trim().split('\n').slice(1)
    const events = lines.map((line) => JSON.parse(line).event as { readonly kind: string; readonly outcome?: string })
    const ended = events.flatMap(({ kind, outcome }) => (kind === 'run.finished' ? [outcome ?? ''] : []))
    const started = events.filter(({ kind }) => kind === 'run.started').length
    return [...ended, ...Array(started - ended.length).fill('active')]
  }
  async close(): Promise<void> {
    expect(this.noise).toEqual([])
    await this.page.context().close()
  }
}

export interface FrontEndScenario {
  readonly name: string
  readonly run: (bench: FrontEndBench) => Promise<void>
}

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
      expect(await page.runs()).toEqual(['done', 'done'])
      await page.close()
    },
  },
  {
    name: 'a tool of the server',
    async run(bench) {
      const page = await bench.open()
      await page.say('look up: mill')
      await page.shows('look_up {"word":"mill","meaning":"the meaning of mill"}')
      expect(await page.chat.locator('code').first().textContent()).toContain('look_up')
      await page.close()
    },
  },
  {
    name: 'the thread is there after a reload',
    async run(bench) {
      const page = await bench.open()
      await page.say('look up: race')
      await page.shows('look_up {"word":"race","meaning":"the meaning of race"}')
      await page.reload()
      await page.shows('look_up {"word":"race","meaning":"the meaning of race"}')
      await page.say('Hello')
      await page.shows('You said Hello.')
      await page.shows('look_up {"word":"race","meaning":"the meaning of race"}')
      expect(await page.runs()).toEqual(['done', 'done'])
      await page.close()
    },
  },
  {
    name: 'state from the agent',
    async run(bench) {
      const page = await bench.open()
      await page.say('note: milk')
      await page.shows('Noted.')
      await page.state({ notes: ['milk'] })
      await page.close()
    },
  },
  {
    name: 'a tool of the page',
    async run(bench) {
      const page = await bench.open()
      await page.say('size: window')
      await page.shows('Measured: pick_size {"result":"large"}')
      await page.close()
    },
  },
  {
    name: 'a person answers',
    async run(bench) {
      const page = await bench.open()
      await page.say('colour: sky')
      await page.press('blue')
      await page.shows('Chosen: pick_colour {"result":"blue"}')
      await page.close()
    },
  },
  {
    name: 'a confirmation',
    async run(bench) {
      const page = await bench.open()
      await page.say('erase')
      await page.shows('Erase the notes?')
      await page.press('Approve')
      await page.shows('erase_notes {"erased":true}')
      await page.close()
    },
  },
  {
    name: 'a graph asks',
    async run(bench) {
      const page = await bench.open('graph')
      await page.say('publish')
      await page.shows('Publish it?')
      await page.press('Approve')
      await page.shows('Answered {"approved":true}.')
      await page.close()
    },
  },
]
