import type { Locator, Page } from 'playwright-core'
import type { FrontEndName } from './front-end-pages.ts'

/** What a person does with a page, in the words of its library. */
export interface FrontEnd {
  readonly name: FrontEndName
  readonly title: string
  /** The packages that the table of the documentation names. */
  readonly packages: readonly string[]
  /** Whether the page can change the state of the agent. */
  readonly sharesState: boolean
  /** Whether it shows messages whole that are spoken at the same time. */
  readonly showsParallelMessages: boolean
  /** The place of the conversation. */
  chat(page: Page): Locator
  /** Waits until the page knows that no run is active. */
  idle(page: Page): Promise<void>
  say(page: Page, text: string): Promise<void>
  stop(page: Page): Promise<void>
  regenerate(page: Page): Promise<void>
}

const isOurs: Pick<FrontEnd, 'idle' | 'say' | 'stop' | 'regenerate'> = {
  idle: (page) => page.getByRole('button', { name: 'Send' }).waitFor(),
  async say(page, text) {
    await page.getByLabel('Message').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  },
  stop: (page) => page.getByRole('button', { name: 'Stop' }).click(),
  regenerate: (page) => page.getByRole('button', { name: 'Regenerate' }).last().click(),
}

export const frontEnds: readonly FrontEnd[] = [
  {
    name: 'copilotkit',
    title: 'CopilotKit',
    packages: ['@copilotkit/react-core', '@copilotkit/runtime', '@ag-ui/client'],
    sharesState: true,
    showsParallelMessages: true,
    chat: (page) => page.getByTestId('copilot-chat'),
    idle: (page) => page.locator('aside[aria-busy=false]').waitFor(),
    async say(page, text) {
      await this.idle(page)
      await page.getByTestId('copilot-chat-textarea').fill(text)
      await page.getByTestId('copilot-send-button').click()
    },
    // While a run is active, the button that sends stops it.
    stop: (page) => page.getByTestId('copilot-send-button').click(),
    regenerate: (page) => page.getByTestId('copilot-regenerate-button').last().click(),
  },
  {
    name: 'assistant-ui',
    title: 'assistant-ui',
    packages: ['@assistant-ui/react', '@assistant-ui/react-ag-ui', '@ag-ui/client'],
    sharesState: true,
    showsParallelMessages: false,
    chat: (page) => page.locator('#root'),
    ...isOurs,
  },
  {
    name: 'tanstack-ai',
    title: 'TanStack AI',
    packages: ['@tanstack/ai', '@tanstack/ai-react'],
    sharesState: false,
    showsParallelMessages: true,
    chat: (page) => page.locator('main'),
    ...isOurs,
  },
]
