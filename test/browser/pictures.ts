import type { Page } from 'playwright-core'
import { launchChromiumWith } from './chromium.ts'

const question = 'Give me a recovery briefing for Cedar Creek Fire'

/** The pictures of README.md: one briefing, in the middle of it and at its end, in the light and in the dark. */
export async function takePictures(address: string, folder: string): Promise<readonly string[]> {
  const browser = await launchChromiumWith()
  const taken: string[] = []
  try {
    const viewport = { width: 1440, height: 900 }
    const first = await browser.newPage({ viewport })
    const path = await brief(first, address)
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: 2 })
      const take = async (name: string): Promise<void> => {
        taken.push(`${name}-${colorScheme}.png`)
        await page.mouse.move(720, 2)
        await page.screenshot({ path: `${folder}${name}-${colorScheme}.png` })
      }
      await page.goto(`${address}${path}?at=${await middle(first)}`)
      await page.locator('[data-testid="flow-node"][data-status="running"]').first().waitFor()
      await page.getByTestId('lanes').waitFor()
      await settled(page)
      await take('moment')
      await page.goto(`${address}${path}?panel=proof`)
      await page.getByTestId('proof-confidence').waitFor()
      await page.locator('.why .figure').first().waitFor()
      await settled(page)
      await take('proof')
    }
  } finally {
    await browser.close()
  }
  return taken
}

async function brief(page: Page, address: string): Promise<string> {
  await page.goto(address)
  await page.getByTestId('agent-picker').selectOption('recovery')
  await page.getByTestId('chat-input').fill(question)
  await page.getByTestId('send-button').click()
  await page.getByTestId('message-complete').waitFor({ timeout: 120_000 })
  return new URL(page.url()).pathname
}

/** A moment at which all specialists are speaking: a third into the session. */
async function middle(page: Page): Promise<number> {
  return Math.round(Number(await page.getByTestId('scrubber').getAttribute('max')) * 0.22)
}

/** Fonts are there, the graph is laid out, nothing moves any more. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready
    await new Promise((done) => requestIdleCallback(done))
  })
  await page.locator('.flow-waiting').waitFor({ state: 'detached' })
}
