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

  async open(agent = 'desk', disconnect = 'cancel'): Promise<OpenPage> {
    const page = await (await this.#browser.newContext({ viewport: { width: 1200, height: 900 } })).newPage()
    page.setDefaultTimeout(60_000)
    // A test asks no server but its own.
    await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => route.abort())
    const noise: string[] = []
    page.on('pageerror', ({ message }) => noise.push(message))
    await page.goto(`${this.#page}?agent=${agent}&disconnect=${disconnect}`)
    return new OpenPage(this, page, noise)
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`${this.#millrace}${path}`, init)
  }

  /** Opens a door at which a run waits. */
  async openDoor(name: string): Promise<void> {
    const body = {
      threadId: `door-${name}`,
      runId: name,
      messages: [{ id: name, role: 'user', content: `open: ${name}` }],
    }
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
  idle(): Promise<void> {
    return this.#bench.frontEnd.idle(this.page)
  }
  stop(): Promise<void> {
    return this.#bench.frontEnd.stop(this.page)
  }
  /** Once the run is over: the button may be there before. */
  async regenerate(): Promise<void> {
    await this.idle()
    return this.#bench.frontEnd.regenerate(this.page)
  }
  press(name: string): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).last().click()
  }
  /** The state that the page shows beside the chat. */
  async state(expected: unknown): Promise<void> {
    const shown = this.page.locator('aside pre')
    await expect
      .poll(async () => JSON.parse((await shown.textContent()) || '{}'), { timeout: 60_000 })
      .toMatchObject(expected as object)
  }
  async reload(): Promise<void> {
    await this.page.reload()
  }
  /** Waits until the runs of the thread have ended so. What a run says is on the page before its end is in the log. */
  runsAre(expected: readonly string[]): Promise<void> {
    return expect.poll(() => this.#runs()).toEqual(expected)
  }
  /** How the runs of the thread ended, and what is active. */
  async #runs(): Promise<readonly string[]> {
    const thread = new URL(this.page.url()).searchParams.get('thread')
    const lines = (await (await this.#bench.fetch(`/sessions/${thread}/log`)).text()).trim().split('\n').slice(1)
    const events = lines.map((line) => JSON.parse(line).event as { readonly kind: string; readonly outcome?: string })
    const ended = events.flatMap(({ kind, outcome }) => (kind === 'run.finished' ? [outcome ?? ''] : []))
    const started = events.filter(({ kind }) => kind === 'run.started').length
    return [...ended, ...Array(started - ended.length).fill('active')]
  }
  /** Leaves the page, where nothing may have gone wrong. */
  async close(): Promise<undefined> {
    expect(this.noise).toEqual([])
    await this.page.context().close()
  }
}
